/**
 * Files of a room. The bot API has no way to fetch one, but a delivery carries its share link; the server lets in who has
 * it when the conversation is an open one, as it does for guests, and answers 404 otherwise.
 */

/** The token of a share on this server; undefined for a link to anything else. */
export function shareOf(link: string, baseUrl: string): string | undefined {
  if (!link.startsWith(`${baseUrl}/`)) return undefined;
  return /^\/(?:index\.php\/)?s\/([A-Za-z0-9]{5,64})$/.exec(link.slice(baseUrl.length))?.[1];
}

export const isShareToken = (text: string): boolean => /^[A-Za-z0-9]{5,64}$/.test(text);

/** With index.php: servers without pretty URLs have no other. */
export const downloadUrl = (apiUrl: string, share: string): string => `${apiUrl}/index.php/s/${share}/download`;
