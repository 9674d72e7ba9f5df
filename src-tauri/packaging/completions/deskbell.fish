# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_deskbell_global_optspecs
    string join \n demo prompt= open background h/help V/version
end

function __fish_deskbell_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_deskbell_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_deskbell_using_subcommand
    set -l cmd (__fish_deskbell_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c deskbell -n "__fish_deskbell_needs_command" -l prompt -d 'Start a session with this prompt; a draft if Deskbell is already running' -r
complete -c deskbell -n "__fish_deskbell_needs_command" -l demo -d 'New sessions there use the built-in demo agent: no account, no network'
complete -c deskbell -n "__fish_deskbell_needs_command" -l open -d 'Open as a launcher does: the start page without FOLDER, and errors in a window'
complete -c deskbell -n "__fish_deskbell_needs_command" -l background -d 'Start without a window, as at login: only the tray icon is shown'
complete -c deskbell -n "__fish_deskbell_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_needs_command" -s V -l version -d 'Print version'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "projects" -d 'List the projects that were opened earlier, one JSON object per line, or change that list'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "relay" -d 'Run the engine without a window: commands on stdin, events on stdout, one JSON object per line'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "replay" -d 'Show the conversation in a recording'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "recordings" -d 'List the recordings that were made in the window, with their sizes, or remove them'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "sessions" -d 'List, search, export, follow and end sessions'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "changes" -d 'List the files that differ from the last commit, print them as a patch, or revert one'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "commit" -d 'Commit files or hunks with your own git, or undo the last commit'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "worktrees" -d 'List the worktrees of a repository, with their branches and numbers of changed files, add or remove one'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "trust" -d 'Show whether a folder is trusted, and what its settings would run, load or allow, or decide it'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "rules" -d 'List the permission rules in Claude Code\'s settings files, or remove one'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "agents" -d 'List the agents that a new session can have, and the profiles of the settings, without the values of their variables'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "folders" -d 'List the folders in a folder, to choose one from, as one JSON object'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "on" -d 'Run a command of Deskbell on another machine'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "edit" -d 'Open a file in your editor: that of the settings, a well-known one that is installed, or the desktop\'s editor for text'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "settings" -d 'Show or change the settings, or check their file'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "doctor" -d 'Show which agent is used and why, whether it can work, and the desktop; test whether it asks before acting'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "update" -d 'Replace the AppImage that runs this command with a newer one, if its signature is right and nothing works or waits'
complete -c deskbell -n "__fish_deskbell_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l pin -d 'List the project first; it is not cleared' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l unpin -d 'No longer list it first' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l remove -d 'Forget the project' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l moved -d 'The folder was moved, or got another name: its sessions go along, and whether to trust it is asked again' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l keep-running -d 'New sessions of the folder keep running when Deskbell closes' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l no-keep-running -d 'New sessions of the folder end when Deskbell closes' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l default-keep-running -d 'The setting decides it for the folder' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l machine -d 'With --pin, --unpin and --remove: the folder is one of this machine, as it is listed' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l to -d 'With --moved: the folder\'s new place' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l json -d 'Print JSON, which is also what the command prints without it'
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -l clear -d 'Forget all projects that are not pinned'
complete -c deskbell -n "__fish_deskbell_using_subcommand projects" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l project -d 'The agent\'s working folder' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l agent -d 'The agent: the path of its program; `demo`, the built-in one; or the name of another one that speaks the Agent Client Protocol, as `deskbell agents` lists it. Without it the relay searches for Claude Code as the window does' -r -F
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l agent-command -d 'Any other agent that speaks this protocol: a path, or the name of a program. It starts only in a trusted folder' -r -f -a "(__fish_complete_command)"
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l agent-argument -d 'An argument of that program; can be repeated' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l profile -d 'An agent with its program, configuration and choices, by its name in the setting agent.profiles' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l resume -d 'Continue this conversation: the agentSessionId of an earlier run, for Claude Code a UUID' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l fork -d 'Begin a new conversation as a copy of this one, which is only read: another program may have it open' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l before -d 'With --fork: the copy ends before the prompt with this id' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l model -d 'A model the agent knows' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l mode -d 'The permission mode; running without asking cannot be chosen here' -r -f -a "default\t''
acceptEdits\t''
plan\t''
dontAsk\t''
auto\t''"
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l options -d 'What to start the agent with, as a JSON object: system prompt, limits, tools and more' -r -F
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l record -d 'Record everything that happens to the session in a new file, without secrets, for a bug report' -r -F
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l attach -d 'Connect to the server, or start one; with a session, follow it as a relay of it' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l stop -d 'End the agent of a session, or of all, with everything that it started' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l remove -d 'End a session and remove it from its server; the agent\'s own transcript stays' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l idle -d 'With --serve and --attach: the server leaves after this idle time, 600 by default' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l trust -d 'Load the folder\'s own settings, hooks and servers for this run; without it, a folder that is not trusted is opened restricted'
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l low-priority -d 'While the processors are busy, the agent and all that it starts get less of them than other programs'
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l serve -d 'Run sessions that outlive their clients: a server for you alone, which leaves when it is idle'
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l list -d 'List the sessions of your servers, and those that are saved while no server runs'
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l detached -d 'With --serve: leave the terminal that the server was started from'
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l no-start -d 'With --attach: start no server'
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -l json -d 'With --list: print one JSON object per session'
complete -c deskbell -n "__fish_deskbell_using_subcommand relay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand replay" -l lines -d 'Show its lines in both directions instead, with their times'
complete -c deskbell -n "__fish_deskbell_using_subcommand replay" -l events -d 'Print its events instead, as one JSON object per line'
complete -c deskbell -n "__fish_deskbell_using_subcommand replay" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand recordings" -l remove -d 'Remove this recording' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand recordings" -l json -d 'Print JSON, which is also what the command prints without it'
complete -c deskbell -n "__fish_deskbell_using_subcommand recordings" -l clear -d 'Remove all of them'
complete -c deskbell -n "__fish_deskbell_using_subcommand recordings" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "list" -d 'List the sessions of a project that Claude Code stored, one JSON object per line'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "export" -d 'Write a stored session to stdout or to a new file'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "search" -d 'Search the text of stored sessions'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "watch" -d 'Print a stored session, and follow it while another program works on it'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "usage" -d 'Cost and tokens of Deskbell\'s sessions, of one project or of all'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "pin" -d 'Keep a session at the top of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "unpin" -d 'No longer keep a session at the top of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "archive" -d 'Move a session to the closed group of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "unarchive" -d 'Move a session back from the closed group'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "running" -d 'List the sessions that your servers have, of every version, with what their processes cost'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "attach" -d 'Show a session of your servers in this terminal: a line is sent as a prompt, y and n answer requests'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "stop" -d 'End the agent of a session of your servers, or of all, with everything that it started'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and not __fish_seen_subcommand_from list export search watch usage pin unpin archive unarchive running attach stop help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from list" -l filter -d 'Only sessions that contain all of these words' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from list" -l json -d 'Print JSON, which is also what the command prints without it'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from export" -l format -d 'The format; by default that of the file\'s extension, or Markdown' -r -f -a "md\t''
json\t''
html\t''"
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from export" -l output -d 'A new file' -r -F
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from export" -l force -d 'Replace the file if it exists'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from search" -l project -d 'The project\'s folder, by default the current one' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from search" -l all -d 'Search all projects'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from search" -l json -d 'Print one JSON object per session'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from watch" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from usage" -l by -d 'What each row is about' -r -f -a "session\t''
day\t''
model\t''
project\t''
all\t''"
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from usage" -l json -d 'Print JSON, which is also what the command prints without it'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from usage" -l csv -d 'Print CSV'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from usage" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from pin" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from unpin" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from archive" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from unarchive" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from running" -l host -d 'On this machine instead, named as for `deskbell on`' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from running" -l json -d 'Print one JSON object per session'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from running" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from attach" -l host -d 'On this machine instead, named as for `deskbell on`' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from attach" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from stop" -l host -d 'On this machine instead, named as for `deskbell on`' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from stop" -l all -d 'End the agents of all'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the sessions of a project that Claude Code stored, one JSON object per line'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "export" -d 'Write a stored session to stdout or to a new file'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "search" -d 'Search the text of stored sessions'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "watch" -d 'Print a stored session, and follow it while another program works on it'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "usage" -d 'Cost and tokens of Deskbell\'s sessions, of one project or of all'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "pin" -d 'Keep a session at the top of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "unpin" -d 'No longer keep a session at the top of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "archive" -d 'Move a session to the closed group of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "unarchive" -d 'Move a session back from the closed group'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "running" -d 'List the sessions that your servers have, of every version, with what their processes cost'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "attach" -d 'Show a session of your servers in this terminal: a line is sent as a prompt, y and n answer requests'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "stop" -d 'End the agent of a session of your servers, or of all, with everything that it started'
complete -c deskbell -n "__fish_deskbell_using_subcommand sessions; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c deskbell -n "__fish_deskbell_using_subcommand changes" -l patch -d 'Print the changes as a patch for git apply: those of this file, which can be repeated, or of all files' -r -F
complete -c deskbell -n "__fish_deskbell_using_subcommand changes" -l revert -d 'Make a file what it was at the last commit' -r -F
complete -c deskbell -n "__fish_deskbell_using_subcommand changes" -l hunk -d 'With --revert: only this hunk, named by its @@ line in the patch' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand changes" -l json -d 'Print one JSON object per file'
complete -c deskbell -n "__fish_deskbell_using_subcommand changes" -l undo-revert -d 'Undo the last revert'
complete -c deskbell -n "__fish_deskbell_using_subcommand changes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l in -d 'The folder, by default the current one' -r -f -a "(__fish_complete_directories)"
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l hunk -d 'Commit only this hunk of the one FILE, named by its @@ line in the patch; can be repeated' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -s m -l message -d 'The message' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l hooks -d 'In a folder that is not trusted: run the hooks, filters and signing of the repository, or leave out hooks and signing' -r -f -a "run\t''
skip\t''"
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l all -d 'Commit every changed file below the folder'
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l signoff -d 'Add a Signed-off-by line'
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l amend -d 'Replace the last commit, if it is yours and on no remote branch; without a message its own stays'
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l plan -d 'Print the commit that would be made, and make none'
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l undo -d 'Undo the last commit if Deskbell made it and it is on no remote branch; the files stay as they are'
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -l json -d 'Print JSON'
complete -c deskbell -n "__fish_deskbell_using_subcommand commit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -l plan -d 'Print what --add would make' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -l add -d 'Make a worktree of a branch, next to the repository, and print its folder; a new branch begins at the current commit' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -l folder -d 'Print the folder in a worktree that corresponds to FOLDER' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -l review -d 'Print what --remove would lose, or why it would not remove' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -l remove -d 'Remove a worktree, unless something in it is nowhere else; the branch stays' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -l json -d 'Print JSON'
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -l current -d 'Print what is checked out in FOLDER'
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -l with-ignored -d 'With --remove: files that git ignores are lost too'
complete -c deskbell -n "__fish_deskbell_using_subcommand worktrees" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand trust" -l decide -d 'Decide it; trust and keep need the fingerprint that was shown, so that nothing unseen is trusted' -r -f -a "trust\t''
restrict\t''
keep\t''"
complete -c deskbell -n "__fish_deskbell_using_subcommand trust" -l fingerprint -d 'The fingerprint that was shown' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand trust" -l load -d 'Load a setting that is left out because its effects are not known; repeat it for each. Only with --decide trust' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand trust" -l agent -d 'About another agent: each has a decision of its own' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand trust" -l profile -d 'About the agent of a profile' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand trust" -l json -d 'Print JSON'
complete -c deskbell -n "__fish_deskbell_using_subcommand trust" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and not __fish_seen_subcommand_from remove help" -l json -d 'Print JSON'
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and not __fish_seen_subcommand_from remove help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and not __fish_seen_subcommand_from remove help" -a "remove" -d 'Remove a rule from its file; everything else in the file stays as it is'
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and not __fish_seen_subcommand_from remove help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and __fish_seen_subcommand_from remove" -l effect -d 'The list of the rule, if it is in several' -r -f -a "allow\t''
ask\t''
deny\t''"
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and __fish_seen_subcommand_from remove" -l from -d 'The file of the rule, if it is in several: your own in this folder, the folder\'s, or yours for all folders' -r -f -a "local\t''
project\t''
user\t''"
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove a rule from its file; everything else in the file stays as it is'
complete -c deskbell -n "__fish_deskbell_using_subcommand rules; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c deskbell -n "__fish_deskbell_using_subcommand agents" -l models -d 'List the models and effort levels that each agent offered in its last run instead'
complete -c deskbell -n "__fish_deskbell_using_subcommand agents" -l json -d 'Print one JSON object'
complete -c deskbell -n "__fish_deskbell_using_subcommand agents" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand folders" -l json -d 'Print JSON, which is also what the command prints without it'
complete -c deskbell -n "__fish_deskbell_using_subcommand folders" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand on" -l program -d 'Copy this program there' -r -F
complete -c deskbell -n "__fish_deskbell_using_subcommand on" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand edit" -l line -d 'The line, counted from 1' -r
complete -c deskbell -n "__fish_deskbell_using_subcommand edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and not __fish_seen_subcommand_from get set path schema check help" -l json -d 'Print all of them as one JSON object'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and not __fish_seen_subcommand_from get set path schema check help" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and not __fish_seen_subcommand_from get set path schema check help" -f -a "get" -d 'Print one value as JSON, or every setting with its value'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and not __fish_seen_subcommand_from get set path schema check help" -f -a "set" -d 'Change a setting'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and not __fish_seen_subcommand_from get set path schema check help" -f -a "path" -d 'Print where the file is'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and not __fish_seen_subcommand_from get set path schema check help" -f -a "schema" -d 'Print the JSON schema of the file'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and not __fish_seen_subcommand_from get set path schema check help" -f -a "check" -d 'Check the file'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and not __fish_seen_subcommand_from get set path schema check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from get" -l json -d 'Print all of them as one JSON object'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from check" -l json -d 'Print one JSON object'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "get" -d 'Print one value as JSON, or every setting with its value'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "set" -d 'Change a setting'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print where the file is'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON schema of the file'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check the file'
complete -c deskbell -n "__fish_deskbell_using_subcommand settings; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c deskbell -n "__fish_deskbell_using_subcommand doctor" -l agent -d 'Test this program' -r -F
complete -c deskbell -n "__fish_deskbell_using_subcommand doctor" -l json -d 'Print JSON'
complete -c deskbell -n "__fish_deskbell_using_subcommand doctor" -l log -d 'Add the last lines of the log'
complete -c deskbell -n "__fish_deskbell_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand update" -l check -d 'Only say whether there is a newer version'
complete -c deskbell -n "__fish_deskbell_using_subcommand update" -l json -d 'Print JSON'
complete -c deskbell -n "__fish_deskbell_using_subcommand update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "projects" -d 'List the projects that were opened earlier, one JSON object per line, or change that list'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "relay" -d 'Run the engine without a window: commands on stdin, events on stdout, one JSON object per line'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "replay" -d 'Show the conversation in a recording'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "recordings" -d 'List the recordings that were made in the window, with their sizes, or remove them'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "sessions" -d 'List, search, export, follow and end sessions'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "changes" -d 'List the files that differ from the last commit, print them as a patch, or revert one'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "commit" -d 'Commit files or hunks with your own git, or undo the last commit'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "worktrees" -d 'List the worktrees of a repository, with their branches and numbers of changed files, add or remove one'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "trust" -d 'Show whether a folder is trusted, and what its settings would run, load or allow, or decide it'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "rules" -d 'List the permission rules in Claude Code\'s settings files, or remove one'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "agents" -d 'List the agents that a new session can have, and the profiles of the settings, without the values of their variables'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "folders" -d 'List the folders in a folder, to choose one from, as one JSON object'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "on" -d 'Run a command of Deskbell on another machine'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "edit" -d 'Open a file in your editor: that of the settings, a well-known one that is installed, or the desktop\'s editor for text'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "settings" -d 'Show or change the settings, or check their file'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "doctor" -d 'Show which agent is used and why, whether it can work, and the desktop; test whether it asks before acting'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "update" -d 'Replace the AppImage that runs this command with a newer one, if its signature is right and nothing works or waits'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and not __fish_seen_subcommand_from projects relay replay recordings sessions changes commit worktrees trust rules agents folders on edit settings doctor update help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "list" -d 'List the sessions of a project that Claude Code stored, one JSON object per line'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "export" -d 'Write a stored session to stdout or to a new file'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "search" -d 'Search the text of stored sessions'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "watch" -d 'Print a stored session, and follow it while another program works on it'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "usage" -d 'Cost and tokens of Deskbell\'s sessions, of one project or of all'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "pin" -d 'Keep a session at the top of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "unpin" -d 'No longer keep a session at the top of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "archive" -d 'Move a session to the closed group of the list'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "unarchive" -d 'Move a session back from the closed group'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "running" -d 'List the sessions that your servers have, of every version, with what their processes cost'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "attach" -d 'Show a session of your servers in this terminal: a line is sent as a prompt, y and n answer requests'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from sessions" -f -a "stop" -d 'End the agent of a session of your servers, or of all, with everything that it started'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from rules" -f -a "remove" -d 'Remove a rule from its file; everything else in the file stays as it is'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "get" -d 'Print one value as JSON, or every setting with its value'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "set" -d 'Change a setting'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "path" -d 'Print where the file is'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "schema" -d 'Print the JSON schema of the file'
complete -c deskbell -n "__fish_deskbell_using_subcommand help; and __fish_seen_subcommand_from settings" -f -a "check" -d 'Check the file'
