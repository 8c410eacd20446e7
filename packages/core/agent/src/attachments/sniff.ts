/**
 * What a file is, by its first bytes: a client's word, and a name, may say anything. The list is closed: what is not on it is
 * text or a row of bytes, and neither is ever drawn or run by a browser.
 */

/** As many bytes as `sniffType` looks at. */
export const SNIFFED_BYTES = 4096;

export function sniffType(head: Uint8Array): string {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, SNIFFED_BYTES));
  const signature = SIGNATURES.find(({ at = 0, magic }) => bytes.subarray(at, at + magic.length).equals(magic));
  if (signature) return typeof signature.type === "string" ? signature.type : signature.type(bytes);
  return isText(bytes, head.byteLength > SNIFFED_BYTES || bytes.length === SNIFFED_BYTES)
    ? "text/plain"
    : "application/octet-stream";
}

/** Pictures that a browser draws without running anything in them. SVG is a program, and none of them. */
export const RASTER_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

export const isRasterImage = (type: string): boolean => RASTER_TYPES.includes(type);

interface Signature {
  readonly magic: Buffer;
  readonly at?: number;
  readonly type: string | ((bytes: Buffer) => string);
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const ascii = (text: string): Buffer => Buffer.from(text, "latin1");

const riff = (bytes: Buffer): string => {
  const form = bytes.toString("latin1", 8, 12);
  if (form === "WEBP") return "image/webp";
  return form === "WAVE" ? "audio/wav" : "application/octet-stream";
};

/** Of an ISO base media file, by its major brand. */
const isoMedia = (bytes: Buffer): string => {
  const brand = bytes.toString("latin1", 8, 12);
  if (brand === "avif" || brand === "avis") return "image/avif";
  if (/^(?:heic|heix|heim|heis|mif1|msf1)$/.test(brand)) return "image/heic";
  return /^M4[AB] $/.test(brand) ? "audio/mp4" : "video/mp4";
};

/** A container of sound or of film: the names of its codecs say which. */
const matroska = (bytes: Buffer): string => {
  const has = (text: string): boolean => bytes.includes(ascii(text));
  if (!has("webm") && !has("matroska")) return "application/octet-stream";
  return `${has("A_") && !has("V_") ? "audio" : "video"}/${has("webm") ? "webm" : "x-matroska"}`;
};

const ogg = (bytes: Buffer): string => (bytes.includes(ascii("theora")) ? "video/ogg" : "audio/ogg");

/** Layer III, and no reserved bit rate or sample rate: two bytes alone are too few to tell it from noise. */
const mp3 = (bytes: Buffer): string => {
  const third = bytes[2] ?? 0xff;
  return third >> 4 !== 0xf && third >> 4 !== 0 && ((third >> 2) & 3) !== 3 ? "audio/mpeg" : "application/octet-stream";
};

const SIGNATURES: readonly Signature[] = [
  { magic: hex("89 50 4e 47 0d 0a 1a 0a"), type: "image/png" },
  { magic: hex("ff d8 ff"), type: "image/jpeg" },
  { magic: ascii("GIF87a"), type: "image/gif" },
  { magic: ascii("GIF89a"), type: "image/gif" },
  { magic: ascii("RIFF"), type: riff },
  { at: 4, magic: ascii("ftyp"), type: isoMedia },
  { magic: hex("1a 45 df a3"), type: matroska },
  { magic: ascii("OggS"), type: ogg },
  { magic: ascii("ID3"), type: "audio/mpeg" },
  ...["ff fb", "ff fa", "ff f3", "ff f2"].map((bytes) => ({ magic: hex(bytes), type: mp3 })),
  { magic: hex("ff f1"), type: "audio/aac" },
  { magic: hex("ff f9"), type: "audio/aac" },
  { magic: ascii("fLaC"), type: "audio/flac" },
  { magic: ascii("%PDF-"), type: "application/pdf" },
  { magic: hex("50 4b 03 04"), type: "application/zip" },
  { magic: hex("1f 8b 08"), type: "application/gzip" },
];

/** `isCut`: a character may have lost its end. */
function isText(bytes: Buffer, isCut: boolean): boolean {
  if (bytes.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d))
    return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    return true;
  } catch {
    return false;
  }
}
