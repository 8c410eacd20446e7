/** How an operator lets somebody answer approval requests in a chat. */

/**
 * The command that makes this account the channel's approver, where it has none. An account is what a platform says: one with a
 * character that a shell reads differently is left for the operator to fill in.
 */
export function addApproverCommand(channel: string, account?: string): string {
  const name = account !== undefined && PLAIN.test(account) ? account : "<account>";
  return `svc config set channels_config.${channel}.approvers '["${name}"]'`;
}

const PLAIN = /^[A-Za-z0-9_@.+:-]{1,128}$/;
