/** Which paths a policy may forbid: what it can't hold to must not look as if it did. */
export const PLAIN_PATH = "must be a plain path, absolute or relative to the workspace, without ~ and without patterns";

export const isPlainPath = (path: string): boolean =>
  path.trim() !== "" && !/[*?[\]\0]/.test(path) && !path.startsWith("~");
