import { library } from '../../tsup.shared.ts';

export default library({ entry: ['src/main.ts'], dts: false });
