/** Who is calling, and by what that was proved. */
import type { Author, Device } from "@svc/store";
import type { PageSignIn } from "./page-sessions.ts";

export interface Principal {
  readonly device: Device;
  /** The sign-in of the page that was used; undefined: it was a token. What runs on it ends with it. */
  readonly signIn?: PageSignIn | undefined;
}

/** As the writer of a message. */
export const authorOf = ({ id, name }: Device): Author => ({ kind: "device", id, name });
