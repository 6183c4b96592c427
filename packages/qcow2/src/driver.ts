import type { BlockDriver } from '@blockyard/core';
import { viewOf } from './bytes.ts';
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
      if (head.length < 8) return 0;
      const view = viewOf(head);
      const version = view.getUint32(4);
      return view.getUint32(0) === magic && (version === 2 || version === 3) ? 100 : 0;
    },
    open: async (options, context) => new Qcow2Node(await openParts(options, context), context),
    inspect,
  };
}
