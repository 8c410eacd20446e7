/** A platform whose events come by a long connection of its own frames, and stay with it until they are acknowledged. */
import type { Json } from "@svc/contract";
import {
  WORKCHAT_APP,
  workchatId,
  workchatMessageEvent,
  workchatMessageId,
  workchatPress,
} from "@svc/testkit/platforms/workchat/events";
import { startWorkchat } from "@svc/testkit/platforms/workchat/server";
import { type Chat, type Fields, lists, type Made, next, SECRETS } from "./chat.ts";

export async function workchat(stack: AsyncDisposableStack): Promise<Made> {
  const person = (name: string): string => workchatId("ou", name);
  const people = {
    member: person("member"),
    approver: person("approver"),
    second: person("second"),
    stranger: person("stranger"),
  };
  const options = { appSecret: SECRETS.workchat, people: Object.values(people) };
  const platform = stack.adopt(await startWorkchat(options), (one) => one.close());
  const chat: Chat = {
    channel: "workchat",
    people,
    openRoom() {
      const room = workchatId("oc", `room ${next()}`);
      platform.addGroup(room);
      return room;
    },
    async write(room, text, { from = "approver", id = `m${next()}`, atMs = Date.now(), more = {} } = {}) {
      const { sender, appId, type, content, ...fields } = more as Readonly<Record<string, Json>>;
      return platform.write({
        id,
        from: people[from],
        text,
        atMs,
        chat: room,
        more: fields,
        ...(sender !== undefined && { sender: sender as Fields }),
        ...(typeof appId === "string" && { appId }),
        ...(typeof type === "string" && { type }),
        ...(content !== undefined && { content }),
      });
    },
    async edit(room, before, after) {
      const written = { id: `m${next()}`, from: people.approver, atMs: Date.now(), chat: room };
      platform.write({ ...written, text: before });
      const more = { update_time: String(Date.now() + 1) };
      platform.socket.send(workchatMessageEvent({ ...written, text: after, more }));
    },
    async press({ room, id: asked }, { from = "approver", data, room: at = room, id = `p${next()}` }) {
      const value = { choice: data, label: "Approve" };
      const press = { id, from: people[from], chat: at, message: asked!, value, atMs: Date.now() };
      platform.socket.send(workchatPress(press));
    },
    posted: () =>
      platform.sent.map(({ chat: room, text, values, id }) => ({
        room,
        text,
        data: values.map((value) => String((value as Fields)["choice"])),
        id,
      })),
  };
  const section = `[channels_config.workchat]
app_id = "${WORKCHAT_APP.appId}"
app_secret = "${SECRETS.workchat}"
mention_only = false
api_url = "${platform.url}"
${lists("allowed_users", people)}`;
  return { chat, section };
}

/** Fields of a message that replies to another one. */
export const replying = (to: string): Fields => {
  const id = workchatMessageId(to);
  return { root_id: id, parent_id: id };
};
