/** Which paths are a route's. */
export const pathPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split(/\{\w+\}/)
      .map(RegExp.escape)
      .join("[^/]+")}$`,
  );
