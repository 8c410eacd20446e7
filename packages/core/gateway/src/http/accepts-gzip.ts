/** Whether `Accept-Encoding` lets a body be sent as gzip (RFC 9110 section 12.5.3). */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  let others = false;
  for (const part of String(header ?? "").split(",")) {
    const [coding = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const isWanted = !parameters.some((text) => /^q=0(?:\.0{0,3})?$/.test(text));
    if (coding === "gzip" || coding === "x-gzip") return isWanted;
    if (coding === "*") others = isWanted;
  }
  return others;
}
