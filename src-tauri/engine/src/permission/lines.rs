//! A permission request as lines of plain text, for terminals.

use super::Dialogs;
use crate::api::PermissionRequest;
use crate::misleading::written_out;

impl Dialogs {
    /// A request as lines of plain text, whole and with every character visible: a direction mark or an escape could show
    /// another command than the one that runs.
    pub fn lines(request: &PermissionRequest) -> Vec<String> {
        let mut lines: Vec<String> = request.subagent.iter().map(|subagent| subagent.words.clone()).collect();
        lines.push(format!("{}: {}", written_out(&request.tool), request.question));
        lines.extend(request.reason.as_deref().map(written_out));
        lines.extend(request.input_text.split('\n').map(|line| format!("    {}", written_out(line))));
        lines.extend(request.host.as_deref().map(|host| format!("It reaches {}.", written_out(host))));
        lines.extend(request.notices.iter().map(|notice| format!("Careful: {}", notice.words)));
        lines.extend(request.unreported.clone());
        lines
    }
}
