import type { Conversation } from "../../api/shapes.ts";
import { Name } from "../../parts/name.tsx";
import { useDevice } from "../../session/use-device.ts";

/** Where a conversation was begun: by a device, on a channel, or by something else. */
export function Owner({ of: { device, channel, kind } }: { readonly of: Conversation }) {
  const current = useDevice();
  if (channel) return <Name>{channel.channel}</Name>;
  if (kind === "procedure") return <span class="hint">procedure</span>;
  if (device === null) return <span class="hint">no device</span>;
  return (
    <>
      <Name>{device.name}</Name> {device.id === current?.id && <span class="mark">this one</span>}
    </>
  );
}
