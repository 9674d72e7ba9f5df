# Generated from the help text of src-tauri/cli/src/args.rs by tests/src/command_line.rs.
_deskbell() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local option= command= options= plain= files=
    # Bash splits --option=value into three words.
    if [[ $word == '=' ]]; then
        option=$before word=
    elif [[ $before == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $before == --* ]]; then
        option=$before
    fi
    [[ $COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]}
    [[ $COMP_CWORD -gt 2 && $command == sessions ]] && command="sessions ${COMP_WORDS[2]}"
    COMPREPLY=()
    case "$command $option" in
        *" --prompt")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "projects --machine")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "projects --pin")
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            compopt -o filenames
            return ;;
        "projects --unpin")
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            compopt -o filenames
            return ;;
        "projects --remove")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "projects --keep-running")
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            compopt -o filenames
            return ;;
        "projects --no-keep-running")
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            compopt -o filenames
            return ;;
        "projects --default-keep-running")
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            compopt -o filenames
            return ;;
        "relay --project")
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            compopt -o filenames
            return ;;
        "relay --agent")
            mapfile -t COMPREPLY < <(compgen -f -W 'demo' -- "$word")
            compopt -o filenames
            return ;;
        "relay --model")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --mode")
            mapfile -t COMPREPLY < <(compgen -W 'default acceptEdits plan dontAsk auto' -- "$word")
            compopt -o filenames
            return ;;
        "relay --options")
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames
            return ;;
        "relay --record")
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames
            return ;;
        "relay --agent-command")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --agent-argument")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --profile")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --resume")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --fork")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --before")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --idle")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --attach")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "relay --stop")
            mapfile -t COMPREPLY < <(compgen -W 'all' -- "$word")
            compopt -o filenames
            return ;;
        "relay --remove")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "recordings --remove")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "sessions list --filter")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "sessions export --format")
            mapfile -t COMPREPLY < <(compgen -W 'md json html' -- "$word")
            compopt -o filenames
            return ;;
        "sessions export --output")
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames
            return ;;
        "sessions search --project")
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            compopt -o filenames
            return ;;
        "sessions usage --by")
            mapfile -t COMPREPLY < <(compgen -W 'session day model project all' -- "$word")
            compopt -o filenames
            return ;;
        "sessions running --host")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "sessions attach --host")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "sessions stop --host")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "changes --patch")
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames
            return ;;
        "changes --revert")
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames
            return ;;
        "changes --hunk")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "worktrees --add")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "worktrees --remove")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "worktrees --plan")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "worktrees --review")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "worktrees --folder")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "trust --decide")
            mapfile -t COMPREPLY < <(compgen -W 'trust restrict keep' -- "$word")
            compopt -o filenames
            return ;;
        "trust --fingerprint")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "trust --agent")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "trust --profile")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "on --program")
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames
            return ;;
        "edit --line")
            mapfile -t COMPREPLY < <(compgen -W '' -- "$word")
            compopt -o filenames
            return ;;
        "doctor --agent")
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames
            return ;;
    esac
    case "$command" in
        "projects") options='--machine= --pin= --unpin= --remove= --clear --keep-running= --no-keep-running= --default-keep-running=' ;;
        "relay") options='--project= --agent= --model= --mode= --options= --record= --trust --low-priority --agent-command= --agent-argument= --profile= --resume= --fork= --before= --serve --idle= --detached --attach= --no-start --list --json --stop= --remove=' ;;
        "replay") options='--lines --events' files=-f ;;
        "recordings") options='--remove= --clear' ;;
        "sessions list") options='--filter=' files=-d ;;
        "sessions export") options='--format= --output= --force' ;;
        "sessions search") options='--all --project= --json' ;;
        "sessions watch") options='' ;;
        "sessions usage") options='--by= --json --csv' files=-d ;;
        "sessions pin") options='' ;;
        "sessions unpin") options='' ;;
        "sessions archive") options='' ;;
        "sessions unarchive") options='' ;;
        "sessions running") options='--json --host=' ;;
        "sessions attach") options='--host=' ;;
        "sessions stop") options='--all --host=' ;;
        "changes") options='--json --patch= --revert= --hunk= --undo-revert' files=-d ;;
        "worktrees") options='--json --add= --remove= --with-ignored --current --plan= --review= --folder=' files=-d ;;
        "trust") options='--json --decide= --fingerprint= --agent= --profile=' files=-d ;;
        "agents") options='--json' ;;
        "folders") options='' files=-d ;;
        "on") options='--program=' ;;
        "edit") options='--line=' files=-f ;;
        "settings") options='' ;;
        "doctor") options='--agent= --json --log' ;;
        "update") options='--json --check' ;;
        sessions | "sessions "*) plain='list export search watch usage pin unpin archive unarchive running attach stop' ;;
        *)
            options='--demo --prompt= --open --background --version --help' files=-d
            [[ $COMP_CWORD -eq 1 ]] && plain='projects relay replay recordings sessions changes worktrees trust agents folders on edit settings doctor update' ;;
    esac
    if [[ $word == -* || -z $files$plain ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    else
        mapfile -t COMPREPLY < <(compgen $files -W "$plain" -- "$word")
        compopt -o filenames
    fi
    return 0
}
complete -F _deskbell deskbell
