/** Paths of routes as patterns: segments as they are written, or `{name}` for any one. */

const ROUTE_PATH = /^\/api(?:\/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\{[a-z][a-z0-9_]*\}))+$/;

export const isRoutePath = (path: string): boolean => ROUTE_PATH.test(path);

/** Whether two segments would be handed on by one name. */
export function hasDoubledName(path: string): boolean {
  const names = path.split("/").filter(isAny);
  return new Set(names).size < names.length;
}

/** Whether there is a path that is on both. */
export function pathsMeet(one: string, other: string): boolean {
  const [ours, theirs] = [one.split("/"), other.split("/")];
  return (
    ours.length === theirs.length &&
    ours.every((segment, at) => {
      const facing = theirs[at] ?? "";
      return segment === facing || (isAny(segment) && facing !== "") || (isAny(facing) && segment !== "");
    })
  );
}

/** As paths of core may write it, too. */
const isAny = (segment: string): boolean => /^(?::.*|\{.*\}|\*)$/.test(segment);
