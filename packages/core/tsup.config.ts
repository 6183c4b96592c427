import { library } from '../../tsup.shared.ts';

export default library({
  entry: ['src/index.ts', 'src/limits.ts', 'src/node.ts', 'src/platform/node.ts', 'src/platform/portable.ts'],
});
