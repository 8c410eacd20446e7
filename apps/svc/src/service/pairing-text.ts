/** What a terminal shows of a pairing code: the link to click, and the QR code for a phone. */
import { renderUnicodeCompact } from "uqr";

export interface ShownLinks {
  readonly local: string;
  readonly remote: string | undefined;
}

/** Indented by two. The QR code is the link for another machine where there is one. */
export function linkLines({ local, remote }: ShownLinks): string[] {
  const scanned = remote ?? local;
  const lines = [`  ${local}`];
  if (remote === undefined) {
    lines.push(
      "  It works on this machine only. For a phone: set gateway.public_url, or gateway.host and allow_public_bind.",
    );
  } else if (remote !== local) lines.push("From another device:", `  ${remote}`);
  return [...lines, "", qrCode(scanned)];
}

/** Half blocks, dark on light in the usual light-on-dark terminal; a phone reads the inverse as well. */
const qrCode = (text: string): string =>
  renderUnicodeCompact(text, { border: 2, ecc: "L" })
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
