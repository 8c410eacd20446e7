/** `#/runs/abc` → view and id. Hash routes, because the daemon serves one page, and its paths belong to other routes. */
import { Cell } from "../cell.ts";

export interface Route {
  /** Name of the view; empty: the home view. */
  readonly view: string;
  /** Id of the item; undefined: the list. */
  readonly id: string | undefined;
  /** Initial filter of the list. */
  readonly query: Readonly<Record<string, string>>;
  /** True before the first navigation. */
  readonly isFirst: boolean;
}

export function parseRoute(hash: string, isFirst = false): Route {
  const [address = "", query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  const [view = "", id = ""] = address.split("/", 2);
  return {
    view,
    id: id === "" ? undefined : decoded(id),
    query: Object.fromEntries(new URLSearchParams(query)),
    isFirst,
  };
}

/** The inverse, for `href`. */
export function hrefOf(view: string, id?: string, query?: Readonly<Record<string, string>>): string {
  const address = id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
  return query === undefined ? address : `${address}?${new URLSearchParams(query).toString()}`;
}

/** A typed URL may be malformed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function followRoute(window: Window): Cell<Route> {
  const cell = new Cell(parseRoute(window.location.hash, true));
  window.addEventListener("hashchange", () => cell.set(parseRoute(window.location.hash)));
  return cell;
}
