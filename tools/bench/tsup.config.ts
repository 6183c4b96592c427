import { library } from '../../tsup.shared.ts';

export default library({ entry: ['src/main.ts', 'src/worker.ts'], dts: false });
