/** `multipart/form-data` (RFC 7578) as clients of this platform write it: file names with quotes and without. */
export interface FormPart {
  readonly name: string;
  /** Undefined: it is a field. */
  readonly fileName: string | undefined;
  readonly bytes: Buffer;
}

/** Undefined for what is none. */
export function formParts(contentType: string, body: Uint8Array): FormPart[] | undefined {
  const boundary = /;\s*boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) return undefined;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const line = Buffer.from(`\r\n--${boundary}`);
  const parts: FormPart[] = [];
  // The first one has no line before it.
  let at = bytes.subarray(0, line.length - 2).equals(line.subarray(2)) ? line.length - 2 : -1;
  while (at >= 0) {
    if (bytes.subarray(at, at + 2).toString() === "--") return parts;
    const end = bytes.indexOf(line, at);
    const part = end === -1 ? undefined : partOf(bytes.subarray(at + 2, end));
    if (part === undefined) return undefined;
    parts.push(part);
    at = end + line.length;
  }
  return undefined;
}

function partOf(bytes: Buffer): FormPart | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.subarray(0, end).toString("utf8");
  const disposition = /^content-disposition:\s*form-data;(.*)$/im.exec(head)?.[1] ?? "";
  const name = parameterOf(disposition, "name");
  if (name === undefined) return undefined;
  return { name, fileName: parameterOf(disposition, "filename"), bytes: bytes.subarray(end + 4) };
}

function parameterOf(disposition: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|;)\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;]*))`).exec(disposition);
  return found?.[1] ?? found?.[2];
}
