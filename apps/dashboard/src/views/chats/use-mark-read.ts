import { useEffect } from "preact/hooks";
import { path } from "../../api/client.ts";
import type { Conversation } from "../../api/shapes.ts";
import { useServices } from "../../services.ts";
import { useMayOperate } from "../../session/use-device.ts";

/** A conversation that is open in a visible page counts as read, on all devices of the person. */
export function useMarkRead({ id, turns, unread }: Pick<Conversation, "id" | "turns" | "unread">): void {
  const { api, live } = useServices();
  const mayOperate = useMayOperate();
  useEffect(() => {
    if (unread === 0 || !mayOperate) return;
    const mark = (): void => {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", mark);
      const marked = api.call(path`/api/sessions/${id}/read`, { method: "POST", body: { turns } });
      // When it fails it stays unread, and is marked with the next turn.
      void marked.then(() => live.markStale(["sessions"])).catch(() => {});
    };
    document.addEventListener("visibilitychange", mark);
    mark();
    return () => document.removeEventListener("visibilitychange", mark);
  }, [id, turns, unread, mayOperate]);
}
