import type { Recipe } from '../recipe.ts';

const passphrase = 'conveyor';

/** LUKS is not here: its header is random, and its making measures processor time, which not every machine can. */
export const encryption: Recipe[] = [
  {
    name: 'encrypted-aes.qcow2',
    about: 'the old AES encryption',
    tags: ['encrypted'],
    passphrase,
    make(kit) {
      kit.content('content.raw', 'text', 32 << 10, 81);
      const secret = `--object secret,id=key,data=${passphrase}`;
      const options = 'cluster_size=4k,encrypt.format=aes,encrypt.key-secret=key';
      kit.img(`convert ${secret} -f raw -O qcow2 -m 1 -o ${options} content.raw ${this.name}`);
    },
  },
];
