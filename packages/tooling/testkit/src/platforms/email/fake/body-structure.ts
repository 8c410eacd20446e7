/** BODYSTRUCTURE of a mail. RFC 9051, 7.5.2. */
import { literal, nil, quoted } from "./imap-text.ts";
import { fieldOf, type MimePart } from "./mime.ts";

export function bodyStructure(part: MimePart): string {
  const [type = "text", subtype = "plain"] = part.type.split("/");
  const rest = `NIL ${dispositionOf(part)} NIL NIL`;
  if (part.children.length > 0) {
    const children = part.children.map(bodyStructure).join("");
    return `(${children} ${quoted(subtype)} ${pairs(part.parameters)} ${dispositionOf(part)} NIL NIL)`;
  }
  const lines = part.body.toString("latin1").split("\n").length;
  const basic = [
    quoted(type),
    quoted(subtype),
    pairs(part.parameters),
    nil(fieldOf(part.header, "content-id")),
    "NIL",
    quoted(part.encoding),
    part.body.length,
  ].join(" ");
  if (part.type === "message/rfc822") {
    const subject = /^subject:(.*)$/im.exec(part.body.toString("latin1"))?.[1]?.trim() ?? "";
    const envelope = `(NIL ${nil(subject)} NIL NIL NIL NIL NIL NIL NIL NIL)`;
    const inner = `("text" "plain" NIL NIL NIL "7bit" ${part.body.length} ${lines} NIL NIL NIL NIL)`;
    return `(${basic} ${envelope} ${inner} ${lines} ${rest})`;
  }
  return type === "text" ? `(${basic} ${lines} ${rest})` : `(${basic} ${rest})`;
}

const dispositionOf = ({ disposition }: MimePart): string =>
  disposition === undefined ? "NIL" : `(${quoted(disposition.kind)} ${pairs(disposition.parameters)})`;

function pairs(parameters: Readonly<Record<string, string>>): string {
  const all = Object.entries(parameters);
  if (all.length === 0) return "NIL";
  return `(${all.map(([name, value]) => `${quoted(name)} ${/[^ -~]/.test(value) ? literal(value) : quoted(value)}`).join(" ")})`;
}
