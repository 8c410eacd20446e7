/** Files that `svc chat` attaches. The command puts a copy into the folder of uploads; from there on it is an upload like any other. */
import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type ClientId, type Json, SvcError } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import type { Service } from "../service.ts";
import { text } from "./fields.ts";

export function attachHandlers(
  { attachments, context }: Pick<Service, "attachments" | "context">,
  owner: ClientId,
): ControlHandlers {
  return {
    /** `copy`: name of the copy; `name`: of the file, for people. */
    attach: async ({ body }) => {
      const copy = text(body["copy"]) ?? "";
      // A name of ours: no other path is read, or removed.
      if (!/^[0-9a-f]{16}\.part$/.test(copy)) throw new SvcError("BAD_REQUEST");
      const path = join(context.home.uploadsDir, copy);
      try {
        await using file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(unreadable);
        const { id, name, type, size } = await attachments.receive(owner, text(body["name"]) ?? "", async (write) => {
          for await (const chunk of file.createReadStream({ autoClose: false })) await write(chunk as Buffer);
        });
        return { id, name, type, size };
      } finally {
        await unlink(path).catch(() => {});
      }
    },
    detach: async ({ body }) => {
      const id = text(body["id"]) ?? "";
      return { id, deleted: await attachments.discard(owner, id) };
    },
  };
}

/** Ids of what comes with a message. */
export const filesIn = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((id): id is string => typeof id === "string") : [];

function unreadable(cause: unknown): never {
  throw new SvcError("FILE_UNKNOWN", "The daemon can't read the copy of the file.", { cause });
}
