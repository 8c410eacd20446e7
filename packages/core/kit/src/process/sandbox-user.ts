/**
 * The user for root's commands in a workspace without another owner. Above every range that distributions and service managers
 * assign (below 65536) and below those of containers (524288 and up), so that no other account has this id:
 * https://systemd.io/UIDS-GIDS/. It needs no line in /etc/passwd.
 */
export const SANDBOX_USER = Object.freeze({ uid: 242_617, gid: 242_617 });
