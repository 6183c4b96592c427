/** Byte offsets go beyond 32 bits, where JavaScript's bit operators would cut them silently: remainders instead. */
export const alignDown = (n: number, alignment: number): number => n - (n % alignment);

export const alignUp = (n: number, alignment: number): number => {
  const rest = n % alignment;
  return rest === 0 ? n : n - rest + alignment;
};

export const isAlignedTo = (n: number, alignment: number): boolean => n % alignment === 0;
