/** Counters driven by events. */
import type { Observer } from "@svc/contract";
import type { Counted } from "../series/counted.ts";

export function watchEvents(counted: Counted): Observer["record"] {
  // Start at 0: a counter that begins with its first event hides that event from `increase()`.
  for (const origin of ["external", "sop", "tool"]) counted.approvalsRequested.record({ origin }, 0);
  for (const outcome of ["approved", "rejected", "expired", "cancelled"]) {
    counted.approvalsResolved.record({ outcome }, 0);
  }
  return (event) => {
    switch (event.type) {
      case "message-received":
        return counted.received.record({ channel: event.conversation.channel }, 1);
      case "message-delivered":
        return counted.deliveries.record({ channel: event.conversation.channel, outcome: "delivered" }, 1);
      case "message-failed": {
        const { channel } = event.conversation;
        if (event.messageId.startsWith("in-")) return counted.unanswered.record({ channel }, 1);
        return counted.deliveries.record({ channel, outcome: "given-up" }, 1);
      }
      case "human_approval_request":
        return counted.approvalsRequested.record({ origin: event.origin }, 1);
      case "human_approval_resolved":
        return counted.approvalsResolved.record({ outcome: event.outcome }, 1);
      case "sop-run-start":
        // Tests are no work, and their failures no alarm.
        if (event.isTest) return;
        return counted.sopStarted.record({ sop: event.sop }, 1);
      case "safety-request":
        return counted.safetyRequests.record({ direction: event.direction }, 1);
      case "safety-refuse":
        return counted.safetyRefusals.record({ reason: event.reason }, 1);
      case "safety-stop":
        return counted.safetyStops.record({ reason: event.reason }, 1);
      case "agent-changed": {
        const labels = { program: event.program };
        if (event.status === "initializing") counted.agentsStarted.record(labels, 1);
        if (event.status === "error") counted.agentsFailed.record(labels, 1);
        return;
      }
      case "safety-reset":
        return counted.safetyResets.record({}, 1);
      case "sop-run-end": {
        if (event.isTest) return;
        const labels = { sop: event.sop, status: event.status };
        counted.sopEnded.record(labels, 1);
        return counted.sopSeconds.record(labels, event.durationMs / 1000);
      }
    }
  };
}
