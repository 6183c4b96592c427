import { describe, expect, it } from 'vitest';
import { proven } from '../src/platform/proven.ts';

const input = Uint8Array.from({ length: 1027 }, (_, i) => i % 251);
const encode = async (bytes: Uint8Array) => bytes.slice(0, 10);

describe('an encoder that proves what it made', () => {
  it('gives what decodes to the input', async () => {
    expect(await proven(encode, async () => input.slice())(input)).toEqual(input.slice(0, 10));
  });

  it.each([0, 500, 1026])('gives nothing when byte %i comes back wrong', async (at) => {
    const back = input.slice();
    back[at] = (back[at] as number) ^ 1;
    expect(await proven(encode, async () => back)(input)).toBeUndefined();
  });

  it('gives nothing when less comes back, or an error', async () => {
    expect(await proven(encode, async () => input.slice(1))(input)).toBeUndefined();
    const fails = async () => {
      throw new Error('damaged');
    };
    expect(await proven(encode, fails)(input)).toBeUndefined();
  });

  it('compares bytes wherever they lie', async () => {
    const memory = new Uint8Array(input.length + 1);
    memory.set(input, 1);
    expect(await proven(encode, async () => memory.subarray(1))(input)).toBeDefined();
  });
});
