import type { Conversation } from "../../api/shapes.ts";
import { Name } from "../../parts/name.tsx";
import { useDevice } from "../../session/use-device.ts";

/** The device that a conversation is of; channels' people have none. */
export function Owner({ device }: Pick<Conversation, "device">) {
  const current = useDevice();
  if (device === null) return <span class="hint">no device</span>;
  return (
    <>
      <Name>{device.name}</Name> {device.id === current?.id && <span class="mark">this one</span>}
    </>
  );
}
