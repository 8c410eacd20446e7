/** The library's tables take 16 ms to evaluate: only a service that sends files pays for them. */
export async function mediaTypeOf(fileName: string): Promise<string> {
  const { default: mime } = await import("mime");
  return mime.getType(fileName) ?? "application/octet-stream";
}
