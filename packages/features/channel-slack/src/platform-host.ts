/**
 * Whether a link that the platform hands out leads to the platform: to its host of files, or to where its API is, which may be a
 * proxy.
 */
export function isPlatforms(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return false;
  return url.origin === new URL(apiUrl).origin || (url.origin === `https://${FILES_HOST}` && url.port === "");
}

const FILES_HOST = "files.slack.com";
