/** An address that came from outside: a link only when it can be nothing but a page. `javascript:` stays text. */
export function SafeLink({ url }: { readonly url: string }) {
  return isPage(url) ? (
    <a href={url} rel="noopener noreferrer" target="_blank">
      {url}
    </a>
  ) : (
    <span class="url">{url}</span>
  );
}

function isPage(url: string): boolean {
  return URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
}
