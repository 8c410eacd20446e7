/** What a tab remembers over a reload: drafts, what was sent and has no answer yet. It goes with the tab, and with a sign-out. */
const PREFIX = "svc.";

export const remembered = (name: string): string | undefined => {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
};

/** @param text Undefined or blank: nothing is remembered any more. */
export function remember(name: string, text: string | undefined): void {
  try {
    if (text === undefined || text === "") sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // Full, or switched off by the browser's settings: a reload forgets.
  }
}

export function forgetAll(): void {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
  } catch {
    // The browser refuses storage.
  }
}
