const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** '1.5 GiB': three significant digits. */
export function formatBytes(bytes: number): string {
  let power = 0;
  let value = bytes;
  while (value >= 1000 && power < units.length - 1) {
    value /= 1024;
    power++;
  }
  const digits = Number.isInteger(value) ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${Number(value.toFixed(digits))} ${units[power]}`;
}

/** '1 GiB (1073741824 bytes)' */
export const formatExact = (bytes: number): string => `${formatBytes(bytes)} (${bytes} bytes)`;

/** '0:05', '1:02:03' */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}
