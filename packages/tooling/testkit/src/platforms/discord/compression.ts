/** https://docs.discord.com/developers/events/gateway#encoding-and-compression */
import type { Json } from "@svc/contract";
import { constants, createDeflate, deflateSync } from "node:zlib";
import type { WebSocket } from "ws";

/** Only who asks for it is sent compressed frames: one stream for the whole connection. */
export function writer(socket: WebSocket, isCompressed: boolean): (payload: Json) => void {
  if (!isCompressed) return (payload) => socket.send(JSON.stringify(payload));
  const deflate = createDeflate();
  let chunks: Buffer[] = [];
  deflate.on("data", (chunk: Buffer) => chunks.push(chunk));
  return (payload) => {
    deflate.write(JSON.stringify(payload));
    deflate.flush(constants.Z_SYNC_FLUSH, () => {
      socket.send(Buffer.concat(chunks));
      chunks = [];
    });
  };
}

/** A frame on its own, for who asks for it with the identify. */
export const compressed =
  (socket: WebSocket) =>
  (payload: Json): void =>
    socket.send(deflateSync(JSON.stringify(payload)));
