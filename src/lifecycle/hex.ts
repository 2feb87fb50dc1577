const DIGITS = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

const digit = (word: number, shift: number): number => DIGITS[(word >>> shift) & 15] as number;

/** Two 32-bit words, big-endian, as 16 lower-case hex digits. One call makes one flat string. */
export function hex64(high: number, low: number): string {
  return String.fromCharCode(
    digit(high, 28),
    digit(high, 24),
    digit(high, 20),
    digit(high, 16),
    digit(high, 12),
    digit(high, 8),
    digit(high, 4),
    digit(high, 0),
    digit(low, 28),
    digit(low, 24),
    digit(low, 20),
    digit(low, 16),
    digit(low, 12),
    digit(low, 8),
    digit(low, 4),
    digit(low, 0),
  );
}
