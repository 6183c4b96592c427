import { closeSync, constants, openSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { native as maybe, type Native } from '@blockyard/native';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines, whyNot } from './machine.ts';

const native = maybe as Native;
const file = join(tmpdir(), `blockyard-engines-${process.pid}`);
const BYTES = (4 << 20) + 1234; // the end is not aligned
const content = new Uint8Array(BYTES).map((_, i) => (i * 2654435761) >>> 13);

const random = (limit: number) => Math.floor(Math.random() * limit);

describe.skipIf(whyNot !== undefined)(`engines${whyNot ?? ''}`, () => {
  let fd: number;
  beforeAll(async () => {
    await writeFile(file, content);
    fd = openSync(file, constants.O_RDWR);
  });
  afterAll(async () => {
    closeSync(fd);
    await rm(file, { force: true });
  });

  describe.each(engines)('%s', (kind) => {
    it('reads at random offsets into memory of every kind', async () => {
      const engine = native.engine(kind);
      await Promise.all(
        Array.from({ length: 500 }, async (_, i) => {
          const length = random(20_000);
          const position = random(BYTES - length);
          const into = [
            () => new Uint8Array(length),
            () => native.memory.create(length, 4096),
            () => new Uint8Array(new SharedArrayBuffer(length + 7), 7),
            () => Buffer.alloc(length + 100).subarray(50, 50 + length),
          ][i % 4]?.() as Uint8Array;
          expect(await engine.read(fd, position, into)).toBe(length);
          expect(Buffer.compare(into, content.subarray(position, position + length))).toBe(0);
        }),
      );
      await engine.close();
    });

    it('fills vectors in order, empty parts and one element included', async () => {
      const engine = native.engine(kind);
      const slab = native.memory.allocate(4096, 4096);
      const parts = [new Uint8Array(3), new Uint8Array(0), slab.subarray(1, 1000), new Uint8Array(70_000)];
      expect(await engine.read(fd, 77, parts)).toBe(3 + 999 + 70_000);
      expect(Buffer.compare(Buffer.concat(parts), content.subarray(77, 77 + 71_002))).toBe(0);
      const one = new Uint8Array(10);
      expect(await engine.read(fd, 5, [one])).toBe(10);
      expect(one).toEqual(content.slice(5, 15));
      expect(await engine.read(fd, 5, [])).toBe(0);
      native.memory.release(slab);
      await engine.close();
    });

    it('passes on the short count of a vector longer than the kernel takes', async () => {
      const engine = native.engine(kind);
      const parts = Array.from({ length: 1500 }, () => new Uint8Array(2));
      expect(await engine.read(fd, 0, parts)).toBe(2048);
      await engine.close();
    });

    it('is short at the end of the file, and 0 beyond it', async () => {
      const engine = native.engine(kind);
      expect(await engine.read(fd, BYTES - 100, new Uint8Array(4096))).toBe(100);
      expect(await engine.read(fd, BYTES, new Uint8Array(4096))).toBe(0);
      expect(await engine.read(fd, 2 ** 45, new Uint8Array(4096))).toBe(0);
      await engine.close();
    });

    it('writes what it was given, and syncs', async () => {
      const engine = native.engine(kind);
      const own = `${file}-${kind}`;
      const out = openSync(own, 'w+');
      const pooled = native.memory.allocate(8192, 512).fill(3);
      expect(await engine.write(out, 4096, pooled)).toBe(8192);
      expect(await engine.write(out, 0, [new Uint8Array(4000).fill(1), new Uint8Array(96).fill(2)])).toBe(
        4096,
      );
      await engine.sync(out, false);
      await engine.sync(out, true);
      const back = new Uint8Array(12_288);
      expect(await engine.read(out, 0, back)).toBe(12_288);
      const expected = new Uint8Array(12_288).fill(1, 0, 4000).fill(2, 4000, 4096).fill(3, 4096);
      expect(back).toEqual(expected);
      native.memory.release(pooled);
      closeSync(out);
      await rm(own);
      await engine.close();
    });

    it('queues what is more than the ring holds', async () => {
      const engine = native.engine(kind);
      const reads = Array.from({ length: 5000 }, async (_, i) => {
        const into = new Uint8Array(8);
        await engine.read(fd, i * 16, into);
        return Buffer.compare(into, content.subarray(i * 16, i * 16 + 8)) === 0;
      });
      expect(engine.inFlight).toBe(5000);
      expect((await Promise.all(reads)).every(Boolean)).toBe(true);
      expect(engine.inFlight).toBe(0);
      await engine.close();
    });

    it('does not let a busy caller starve those that wait', async () => {
      const engine = native.engine(kind);
      const into = new Uint8Array(8);
      let going = true;
      const again = () => {
        if (going) engine.readCallback(fd, 0, into, again);
      };
      for (let i = 0; i < 1100; i++) again();
      expect(await engine.read(fd, 0, new Uint8Array(8))).toBe(8);
      going = false;
      await engine.close();
      expect(engine.inFlight).toBe(0);
    });

    it('calls back once, later, with Node-style errors', async () => {
      const engine = native.engine(kind);
      let returned = false;
      const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
        engine.readCallback(9999, 0, new Uint8Array(10), (failure, bytes) => {
          expect(returned).toBe(true);
          expect(bytes).toBe(0);
          resolve(failure);
        });
        returned = true;
      });
      expect(error).toMatchObject({ code: 'EBADF', errno: -9, syscall: 'read' });
      expect(error?.message).toBe('EBADF: bad file descriptor, read');
      await expect(engine.write(-1, 0, new Uint8Array(1))).rejects.toMatchObject({
        code: 'EBADF',
        syscall: 'write',
      });
      await expect(engine.sync(9999, true)).rejects.toMatchObject({ code: 'EBADF' });
      const reader = openSync(file, 'r');
      await expect(engine.write(reader, 0, new Uint8Array(1))).rejects.toMatchObject({ code: 'EBADF' });
      closeSync(reader);
      await engine.close();
    });

    it('tells EINVAL for unaligned direct I/O', async () => {
      let direct: number;
      try {
        direct = openSync(file, constants.O_RDONLY | (constants.O_DIRECT ?? 0));
      } catch {
        return;
      }
      const engine = native.engine(kind, { direct: true });
      const memory = native.memory.create(8192, 4096);
      await expect(engine.read(direct, 1, memory.subarray(1, 1000))).rejects.toMatchObject({
        code: 'EINVAL',
      });
      expect(await engine.read(direct, 4096, memory)).toBe(8192);
      expect(Buffer.compare(memory, content.subarray(4096, 12_288))).toBe(0);
      closeSync(direct);
      await engine.close();
    });

    it('tells EFAULT for memory that went away before the request left', async () => {
      // Resizable buffers are newer than the library's types.
      const Resizable = ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer;
      const buffer = new Resizable(1 << 20, { maxByteLength: 1 << 20 }) as ArrayBuffer & {
        resize(bytes: number): void;
      };
      const engine = native.engine(kind);
      const read = engine.read(fd, 0, new Uint8Array(buffer).subarray(65_536));
      buffer.resize(0);
      await expect(read).rejects.toMatchObject({ code: 'EFAULT' });
      expect(await engine.read(fd, 0, new Uint8Array(10))).toBe(10);
      await engine.close();
    });

    it.each([[0.5], [-1], [2n], ['0'], [Number.NaN], [2 ** 53]])('refuses position %s', async (position) => {
      const engine = native.engine(kind);
      const wrong = position as number;
      await expect(engine.read(fd, wrong, new Uint8Array(1))).rejects.toThrow(RangeError);
      await expect(engine.write(fd, wrong, new Uint8Array(1))).rejects.toThrow(RangeError);
      expect(() => engine.readCallback(fd, wrong, new Uint8Array(1), () => {})).toThrow(RangeError);
      await engine.close();
    });

    it('refuses what is not memory, waiting or not', async () => {
      const engine = native.engine(kind);
      const wrong = 'text' as unknown as Uint8Array;
      await expect(engine.read(fd, 0, wrong)).rejects.toThrow(TypeError);
      await expect(engine.read(fd, 0, [new Uint8Array(1), wrong])).rejects.toThrow(TypeError);
      const ahead = Array.from({ length: 1024 }, () => engine.read(fd, 0, new Uint8Array(1)));
      await expect(engine.read(fd, 0, wrong)).rejects.toThrow(TypeError);
      await Promise.all(ahead);
      expect(engine.inFlight).toBe(0);
      await engine.close();
    });

    it('serves others with one engine, and refuses after close', async () => {
      const engine = native.engine(kind);
      const other = native.engine(kind);
      expect(engine.name).toBe(kind);
      const last = engine.read(fd, 0, new Uint8Array(100_000));
      await engine.close();
      await engine.close();
      expect(await last).toBe(100_000);
      await expect(engine.read(fd, 0, new Uint8Array(1))).rejects.toThrow('has been closed');
      expect(() => engine.readCallback(fd, 0, new Uint8Array(1), () => {})).toThrow('has been closed');
      expect(await other.read(fd, 0, new Uint8Array(1))).toBe(1);
      const pending = other.read(fd, 0, new Uint8Array(100_000));
      await other.close();
      expect(await pending).toBe(100_000);
    });
  });
});
