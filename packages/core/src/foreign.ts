const text = (head: Uint8Array, offset: number, magic: string): boolean => {
  for (let i = 0; i < magic.length; i++) if (head[offset + i] !== magic.charCodeAt(i)) return false;
  return true;
};

/** What is recognised in order to be refused by name: as a raw disk it would be a small disk full of nonsense. */
const signatures: readonly (readonly [name: string, offset: number, magic: string])[] = [
  ['xz-compressed file', 0, '\xfd7zXZ\0'],
  ['gzip-compressed file', 0, '\x1f\x8b\x08'],
  ['zstd-compressed file', 0, '\x28\xb5\x2f\xfd'],
  ['bzip2-compressed file', 0, 'BZh'],
  ['lz4-compressed file', 0, '\x04\x22\x4d\x18'],
  ['zip archive', 0, 'PK\x03\x04'],
  ['qcow version 1 image', 0, 'QFI\xfb\0\0\0\x01'],
  ['qcow2 image', 0, 'QFI\xfb'],
  ['QED image', 0, 'QED\0'],
  ['VMDK image', 0, 'KDMV'],
  ['VMDK image', 0, 'COWD'],
  ['VMDK descriptor', 0, '# Disk DescriptorFile'],
  ['VHDX image', 0, 'vhdxfile'],
  ['VHD image', 0, 'conectix'],
  ['VDI image', 0x40, '\x7f\x10\xda\xbe'],
  ['Parallels image', 0, 'WithoutFreeSpace'],
  ['Parallels image', 0, 'WithouFreSpacExt'],
  ['LUKS volume', 0, 'LUKS\xba\xbe'],
  ['Apple disk image', 0, 'koly'],
];

/** The name of a container format that begins like this, whether or not a driver for it exists. */
export function foreignFormat(head: Uint8Array): string | undefined {
  return signatures.find(([, offset, magic]) => text(head, offset, magic))?.[0];
}
