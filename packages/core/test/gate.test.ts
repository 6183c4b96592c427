import { createRegistry, type Reference } from '@blockyard/core';
import { expect, test } from 'vitest';
import { link, linkFormat, type Store, storeDriver } from './support/store.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function world(files: Record<string, Uint8Array | string>) {
  const store: Store = new Map(Object.entries(files));
  const opened: string[] = [];
  return { opened, drivers: createRegistry([storeDriver(store, opened), linkFormat()]) };
}

test('names inside images are not followed unless allowed, and the error says how', async () => {
  const { drivers, opened } = world({ '/d/a': link('b', 'raw'), '/d/b': bytes('hello') });
  const refused = drivers.open('/d/a', { format: 'link' });
  await expect(refused).rejects.toMatchObject({ code: 'ERR_DENIED_REFERENCE', path: '/d/a' });
  await expect(refused).rejects.toThrow(/backing file 'b'.*references policy/);
  expect(opened).toEqual(['/d/a']);
});

test('same-directory follows real paths only', async () => {
  const { drivers } = world({
    '/d/a': link('b', 'raw'),
    '/d/b': bytes('hello'),
    '/d/up': link('../e/secret', 'raw'),
    '/d/../e/secret': bytes('secret'),
    '/d/abs': link('/etc/passwd', 'raw'),
    '/etc/passwd': bytes('root'),
    '/d/sym': link('innocent', 'raw'),
    '/d/innocent': '/etc/passwd',
  });
  const disk = await drivers.open('/d/a', { format: 'link', references: 'same-directory' });
  expect(new TextDecoder().decode(await disk.read(0, 5))).toBe('hello');
  expect(disk.describe().children.backing?.readOnly).toBe(true);
  for (const name of ['/d/up', '/d/abs', '/d/sym']) {
    const refused = drivers.open(name, { format: 'link', references: 'same-directory' });
    await expect(refused).rejects.toMatchObject({ code: 'ERR_DENIED_REFERENCE' });
  }
});

test('a function decides, and is told what the image says', async () => {
  const { drivers } = world({ '/d/a': link('/x/b', 'raw'), '/x/b': bytes('hello') });
  const seen: Reference[] = [];
  const allow = (reference: Reference) => {
    seen.push(reference);
    return reference.name === '/x/b';
  };
  const disk = await drivers.open('/d/a', { format: 'link', references: allow });
  expect(seen).toMatchObject([{ role: 'backing', name: '/x/b', format: 'raw', from: { path: '/d/a' } }]);
  await disk.close();
  await expect(drivers.open('/d/a', { format: 'link', references: () => false })).rejects.toThrow(
    /policy refused/,
  );
});

test.each(['json:{"driver":"file","filename":"/etc/passwd"}', 'JSON:{}', 'nbd://host/export', 'b\0c', ''])(
  'the name %j is refused whatever the policy says',
  async (name) => {
    const { drivers, opened } = world({ '/d/a': link(name, 'raw'), '/etc/passwd': bytes('root') });
    await expect(drivers.open('/d/a', { format: 'link', references: () => true })).rejects.toMatchObject({
      code: 'ERR_DENIED_REFERENCE',
    });
    expect(opened).toEqual(['/d/a']);
  },
);

test('loops are found by identity, through links too', async () => {
  const { drivers } = world({ '/d/a': link('b', 'link'), '/d/b': link('c', 'link'), '/d/c': '/d/a' });
  const looping = drivers.open('/d/a', { format: 'link', references: 'same-directory' });
  await expect(looping).rejects.toMatchObject({ code: 'ERR_REFERENCE_CHAIN' });
  await expect(looping).rejects.toThrow(/leads back/);
});

test('a chain has a limit', async () => {
  const files: Record<string, Uint8Array> = { '/d/n64': bytes('end'), '/d/n65': bytes('end') };
  for (let i = 0; i < 64; i++) files[`/d/n${i}`] = link(`n${i + 1}`, i === 63 ? 'raw' : 'link');
  const { drivers } = world(files);
  const disk = await drivers.open('/d/n0', { format: 'link', references: 'same-directory' });
  expect(disk.size).toBe(3);
  await disk.close();
  const longer = world({ ...files, '/d/n63': link('n64', 'link'), '/d/n64': link('n65', 'raw') });
  const refused = longer.drivers.open('/d/n0', { format: 'link', references: 'same-directory' });
  await expect(refused).rejects.toThrow(/more than 64 images/);
});

test('a format that the image does not record is probed only when asked', async () => {
  const { drivers } = world({ '/d/a': link('b'), '/d/b': link('c', 'raw'), '/d/c': bytes('deep') });
  const settings = { format: 'link', references: 'same-directory' } as const;
  await expect(drivers.open('/d/a', settings)).rejects.toMatchObject({ code: 'ERR_FORMAT_REQUIRED' });
  const disk = await drivers.open('/d/a', { ...settings, probe: true });
  expect(new TextDecoder().decode(await disk.read(0, 4))).toBe('deep');
});

test('inspecting an image opens nothing that it names', async () => {
  const { drivers, opened } = world({ '/d/a': link('b', 'raw') });
  expect(await drivers.inspect('/d/a', { format: 'link' })).toMatchObject({ format: 'link' });
  expect(opened).toEqual(['/d/a']);
});

test('a file that takes the place of the one that was checked is not handed out', async () => {
  const store: Store = new Map([
    ['/d/a', link('b', 'raw')],
    ['/d/b', bytes('right')],
    ['/etc/passwd', bytes('root')],
  ]);
  const driver = storeDriver(store);
  const { open } = driver;
  driver.open = (options, context) => {
    if (options.filename === '/d/b') store.set('/d/b', '/etc/passwd');
    return open(options, context);
  };
  const opening = createRegistry([driver, linkFormat()]).open('/d/a', {
    format: 'link',
    references: 'same-directory',
  });
  await expect(opening).rejects.toMatchObject({ code: 'ERR_DENIED_REFERENCE' });
  await expect(opening).rejects.toThrow(/another file took its name/);
});
