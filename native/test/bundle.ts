import { join, resolve } from 'node:path';
import { build } from 'vite';

const root = resolve(import.meta.dirname, '..');

/** A program of test/programs as one file that plain node can run, with the sources of now in it. */
export async function bundle(name: string): Promise<string> {
  const outDir = join(root, 'test/build');
  const conditions = ['@blockyard/source', 'node', 'import'];
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    resolve: { conditions },
    ssr: { noExternal: true, resolve: { conditions } },
    build: {
      ssr: join(root, 'test/programs', `${name}.ts`),
      outDir,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: `${name}.mjs` } },
    },
  });
  return join(outDir, `${name}.mjs`);
}
