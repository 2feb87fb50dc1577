/** US dollars, short: `$0`, `<$0.0001`, `$0.0042`, `$12.30`, `$1,234.50`. Text that is no number stays. */
export function dollars(decimal: string): string {
  const value = Number(decimal);
  if (decimal.trim() === "" || !Number.isFinite(value)) return decimal;
  if (value < 0) return `-${dollars(String(-value))}`;
  if (value === 0) return "$0";
  if (value < 0.0001) return "<$0.0001";
  return `$${(value < 1 ? small : large).format(value)}`;
}

const small = new Intl.NumberFormat("en-US", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
});
const large = new Intl.NumberFormat("en-US", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
