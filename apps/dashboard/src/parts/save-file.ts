/** Hands a file over to the browser's downloads, under the name that the service gave it. */
export function saveFile({ name, bytes }: { readonly name: string; readonly bytes: Blob }): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
