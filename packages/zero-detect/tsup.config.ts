import { library } from '../../tsup.shared.ts';

export default library({
  entry: ['src/index.ts', 'src/scan.node.ts', 'src/scan.portable.ts'],
  // Stays an import of the platform's module, chosen by "imports" in package.json.
  external: ['#scan'],
  // `node:` stays in sight, for the check that the main path has none.
  removeNodeProtocol: false,
  dts: {
    entry: 'src/index.ts',
    // The declaration build finds #scan in src/: dist/ does not exist yet.
    compilerOptions: { ignoreDeprecations: '6.0', customConditions: ['@blockyard/source'] },
  },
});
