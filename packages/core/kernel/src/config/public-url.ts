/** `gateway.public_url`: paths are put behind it, it is printed, encoded as a QR code, and handed to platforms and the page. */
import * as v from "valibot";

/** What is written is what every program reads: no other spelling of a host, nothing after the path, nothing a shell or a page acts on. */
export const publicUrl = () =>
  v.pipe(
    v.string(),
    v.check(
      isPublicUrl,
      "an http:// or https:// URL without a user name, password, query or fragment, in ASCII; a name of other letters begins with xn--",
    ),
  );

const MAX_CHARS = 2048;
const PLAIN = /^https?:\/\/(?<host>[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(?<port>\d{1,5}))?(?:\/[\w.~/-]*)?$/i;

function isPublicUrl(text: string): boolean {
  if (text.length > MAX_CHARS || !URL.canParse(text)) return false;
  const { host, port } = PLAIN.exec(text)?.groups ?? {};
  const url = new URL(text);
  // `0x7f.1` is read as an address, `/a/../b` as another path.
  const isAsRead = host?.toLowerCase() === url.hostname && url.href.toLowerCase().startsWith(`${url.origin}/`);
  return isAsRead && Number(port ?? 1) > 0 && !/\/\.{1,2}(?:\/|$)/.test(text.slice("https://".length));
}
