/** Which paths a webhook trigger may have. */
import { isCanonicalPath } from "@svc/kit";

/** Paths that the service answers itself and that are no events; one that ends with `/` stands for all below, `/` alone for the page. */
export type ReservedPaths = readonly string[];

/** What is wrong with a path; undefined: nothing. */
export function pathFault(path: string, reserved: ReservedPaths): string | undefined {
  if (!path.startsWith("/")) return 'must begin with "/"';
  if (/[?#]/.test(path)) return "must be a path alone, without a query; the condition looks at the payload";
  if (!isAsSent(path)) {
    return "must be written as it stands in a URL: without . and .. parts, other characters as %20, letters and digits as they are";
  }
  if (isReserved(path, reserved)) return "is a path of the service itself";
  return undefined;
}

/** A request's path is compared as it came, and one with a second spelling is 404: such a trigger would wait for ever. */
function isAsSent(path: string): boolean {
  const url = `http://host${path}`;
  return isCanonicalPath(path) && URL.canParse(url) && new URL(url).pathname === path;
}

function isReserved(path: string, reserved: ReservedPaths): boolean {
  return [...ALWAYS, ...reserved].some(
    (one) => path === one || (one !== "/" && one.endsWith("/") && path.startsWith(one)),
  );
}

const ALWAYS = ["/api", "/api/"];
