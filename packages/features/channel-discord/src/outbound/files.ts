/** Files on their way out, as many in a message as it takes. */
import type { OutgoingMessage } from "@svc/contract";

export interface FileBytes {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export type Bundle = readonly FileBytes[];

/** The platform makes no difference. */
/** Of a whole message, and of a file that people send: https://docs.discord.com/developers/resources/message#create-message */
export const MAX_MEDIA_BYTES = 25 * 1_048_576;
const MAX_FILES = 10;

/**
 * All of them before anything is to be seen: a try that fails here has sent nothing. What one file may have, the platform
 * decides by the server. Throws what `read` throws.
 */
export async function bundlesOf({ files = [] }: Pick<OutgoingMessage, "files">): Promise<Bundle[]> {
  const bundles: FileBytes[][] = [];
  let room = 0;
  for (const { name, mimeType, read } of files) {
    const bytes = await read();
    let last = bundles.at(-1);
    if (last === undefined || last.length === MAX_FILES || bytes.byteLength > room) {
      last = [];
      bundles.push(last);
      room = MAX_MEDIA_BYTES;
    }
    last.push({ name, mimeType, bytes });
    room -= bytes.byteLength;
  }
  return bundles;
}
