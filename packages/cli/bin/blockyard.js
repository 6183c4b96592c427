#!/usr/bin/env node
// CommonJS, as the bundle is: Node starts it about 15 ms sooner than modules.
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const main = join(__dirname, '../dist/main.cjs');
if (existsSync(main)) {
  // Node 22 and later keep the compiled code from one start to the next.
  require('node:module').enableCompileCache?.();
  require(main).start();
} else {
  process.stderr.write('blockyard: the command is not built yet; run `pnpm build` in the repository first\n');
  process.exitCode = 1;
}
