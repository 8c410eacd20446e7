/** `1.5 MB`, as people read the size of a file. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const kilo = bytes / 1000;
  if (kilo < 1000) return `${Math.round(kilo)} kB`;
  return `${(kilo / 1000).toFixed(1)} MB`;
}
