import type { BlockDriver } from '@blockyard/core';
import { amend } from './amend/amend.ts';
import { amendOptions } from './amend/options.ts';
import { viewOf } from './bytes.ts';
import { checkImage } from './check/check-image.ts';
import { create } from './create/create.ts';
import { measure } from './create/measure.ts';
import { createOptions } from './create/options.ts';
import { magic } from './header.ts';
import { inspect } from './inspect.ts';
import { Qcow2Node } from './node.ts';
import { openParts } from './open.ts';
import { optionSpecs, type Qcow2Options } from './options.ts';

/** The qcow2 format, versions 2 and 3. */
export function qcow2(): BlockDriver<Qcow2Options> {
  return {
    name: 'qcow2',
    kind: 'format',
    help: "QEMU's copy-on-write image format, versions 2 and 3",
    options: optionSpecs,
    probe(head) {
      const view = viewOf(head);
      if (head.length < 4 || view.getUint32(0) !== magic) return 0;
      // Version 1 is another format. What is cut short, or newer, is told best by who reads the rest.
      return head.length >= 8 && view.getUint32(4) === 1 ? 0 : 100;
    },
    open: async (options, context) => new Qcow2Node(await openParts(options, context), options, context),
    inspect,
    createOptions,
    create,
    measure,
    check: checkImage,
    amendOptions,
    amend,
  };
}
