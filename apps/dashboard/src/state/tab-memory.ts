/** Data of a tab that survives a reload, such as drafts and unanswered messages. Ends with the tab or a sign-out. */
const PREFIX = "svc.";

export const remembered = (name: string): string | undefined => {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
};

/** @param text Undefined or blank: removes the entry. */
export function remember(name: string, text: string | undefined): void {
  try {
    if (text === undefined || text === "") sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // Storage is full or disabled: a reload loses the value.
  }
}

export function forgetAll(): void {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
  } catch {
    // The browser refuses storage.
  }
}
