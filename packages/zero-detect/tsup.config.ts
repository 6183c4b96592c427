import { library } from '../../tsup.shared.ts';

export default library({ entry: ['src/index.ts', 'src/scan.node.ts', 'src/scan.portable.ts'] });
