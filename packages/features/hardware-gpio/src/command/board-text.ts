/** A board as one line at the terminal. */
import type { BoardJson } from "../routes.ts";

export function boardLine({
  alias,
  board,
  architecture,
  path,
  usb,
  transport,
  connected,
  protocol,
}: BoardJson): string {
  const where = path ?? (transport === "native" ? "pins of this computer" : "no serial port");
  const id = usb ? `, USB ${usb.vendor_id}:${usb.product_id}` : "";
  const speaks = protocol === null ? "" : `, ${protocol}`;
  return `${alias}  ${board}${architecture === null ? "" : ` (${architecture})`}  ${where}${id}${speaks}  ${connected ? "connected" : "not connected"}`;
}
