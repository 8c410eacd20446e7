/** What a set-up says of a channel in which no account may answer approval requests. */
import { addApproverCommand } from "@svc/sop";

export const noApproversNote = (channel: string): string =>
  `No account may answer approval requests in ${channel}: operators answer on the page or with svc approvals. ` +
  `To have an account answer there: ${addApproverCommand(channel)}`;
