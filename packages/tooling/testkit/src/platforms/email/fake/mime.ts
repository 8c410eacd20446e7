/** A mail as a tree of parts with their bytes, as an IMAP server sees it. What is no MIME is text. */

export interface MimePart {
  /** With the blank line behind it. */
  readonly header: Buffer;
  readonly body: Buffer;
  /** Lower case. */
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly encoding: string;
  readonly disposition: { readonly kind: string; readonly parameters: Readonly<Record<string, string>> } | undefined;
  readonly children: readonly MimePart[];
}

export function mimeOf(raw: Buffer, depth = 0): MimePart {
  const end = endOfHeader(raw);
  const [header, body] = [raw.subarray(0, end), raw.subarray(end)];
  const { value, parameters } = structured(fieldOf(header, "content-type") || "text/plain; charset=us-ascii");
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(value) ? value.toLowerCase() : "text/plain";
  const disposition = fieldOf(header, "content-disposition");
  const { value: kind, parameters: more } = structured(disposition);
  const boundary = parameters["boundary"];
  const isMultipart = type.startsWith("multipart/") && boundary !== undefined && depth < 50;
  const children = isMultipart ? split(body, boundary).map((part) => mimeOf(part, depth + 1)) : [];
  return {
    header,
    body,
    // A multipart without parts is none.
    type: type.startsWith("multipart/") && children.length === 0 ? "text/plain" : type,
    parameters,
    encoding: fieldOf(header, "content-transfer-encoding").trim().toLowerCase() || "7bit",
    disposition: disposition === "" ? undefined : { kind, parameters: more },
    children,
  };
}

/** `1.2`, or undefined where there is no such part. A mail of one part has it as its first one. */
export function partAt(root: MimePart, id: string): MimePart | undefined {
  let part: MimePart | undefined = root;
  for (const number of id.split(".")) {
    if (part.children.length === 0) part = number === "1" ? part : undefined;
    else part = part.children[Number(number) - 1];
    if (part === undefined) return undefined;
  }
  return part;
}

/** Unfolded; blank if the header is missing. */
export function fieldOf(header: Buffer, name: string): string {
  const unfolded = header.toString("latin1").replaceAll(/\r?\n[ \t]+/g, " ");
  return new RegExp(`^${name}[ \\t]*:(.*)$`, "im").exec(unfolded)?.[1]?.trim() ?? "";
}

function endOfHeader(raw: Buffer): number {
  if (raw.subarray(0, 2).toString("latin1") === "\r\n") return 2;
  const at = raw.indexOf("\r\n\r\n");
  return at < 0 ? raw.length : at + 4;
}

function split(body: Buffer, boundary: string): Buffer[] {
  const text = `\r\n${body.toString("latin1")}`;
  const pieces = text.split(`\r\n--${boundary}`).slice(1);
  const parts: Buffer[] = [];
  for (const piece of pieces) {
    if (piece.startsWith("--")) break;
    parts.push(Buffer.from(piece.replace(/^[ \t]*\r\n/, ""), "latin1"));
  }
  return parts;
}

function structured(value: string): { value: string; parameters: Record<string, string> } {
  const [first = "", ...rest] = value.split(/;(?=(?:[^"]*"[^"]*")*[^"]*$)/);
  const parameters: Record<string, string> = {};
  for (const part of rest) {
    const [, name, quoted, plain] = /^\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/.exec(part) ?? [];
    if (name !== undefined) parameters[name.toLowerCase()] = quoted?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "";
  }
  return { value: first.trim(), parameters };
}
