import { library } from '../../tsup.shared.ts';

const meta = '__moduleUrl';

/**
 * One file with everything of ours in it, whose modules are evaluated when a command needs them. Start-up is most of
 * what a small command costs: Node loads one CommonJS file sooner than a graph of modules.
 */
export default library({
  entry: ['src/main.ts'],
  format: ['cjs'],
  outExtension: () => ({ js: '.cjs' }),
  dts: false,
  splitting: false,
  // Half as much to parse. The source map has the names.
  minify: true,
  // Our own packages come from source. The addon finds its compiled part beside itself, and WebAssembly is for those
  // who have no other zstd.
  noExternal: [/^(?!@blockyard\/native\/addon|@bokuweb\/)/],
  external: ['@blockyard/native/addon', /^@bokuweb\//],
  banner: { js: `const ${meta} = require('node:url').pathToFileURL(__filename).href;` },
  esbuildOptions(options) {
    options.conditions = ['@blockyard/source', 'node', 'import', 'module'];
    options.define = { ...options.define, 'import.meta.url': meta };
  },
  esbuildPlugins: [
    {
      // commander loads it for subcommands that are programs of their own, which costs milliseconds and is not used.
      name: 'no-child-process',
      setup(build) {
        build.onResolve({ filter: /^node:child_process$/ }, () => ({
          path: 'child_process',
          namespace: 'empty',
        }));
        build.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({
          contents: 'module.exports = {};',
          loader: 'js',
        }));
      },
    },
  ],
});
