//! Deskbell in a real window, as a user meets it: keyboard, pointer, native dialogs and notifications.
//!
//! The app is `DESKBELL_TEST_APP`, else the debug build; its agent is the embedded demo agent, controlled by scripts in
//! the prompts. Each test has a desktop of its own. Screenshots go to `DESKBELL_TEST_ARTEFACTS`.

#[cfg(target_os = "linux")]
mod awake;
#[cfg(target_os = "linux")]
mod background;
#[cfg(target_os = "linux")]
mod bell;
#[cfg(target_os = "linux")]
mod board;
#[cfg(target_os = "linux")]
mod changes;
#[cfg(target_os = "linux")]
mod configuration;
mod conversation;
#[cfg(target_os = "linux")]
mod copying;
#[cfg(target_os = "linux")]
mod data_folder;
#[cfg(target_os = "linux")]
mod dialogs;
#[cfg(target_os = "linux")]
mod drawing;
#[cfg(target_os = "linux")]
mod dropping;
#[cfg(target_os = "linux")]
mod ending;
#[cfg(target_os = "linux")]
mod failures;
#[cfg(target_os = "linux")]
mod far;
#[cfg(target_os = "linux")]
mod first_run;
#[cfg(target_os = "linux")]
mod form;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod hostile_output;
#[cfg(target_os = "linux")]
mod input_methods;
#[cfg(target_os = "linux")]
mod isolation;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod looks;
#[cfg(target_os = "linux")]
mod many_sessions;
#[cfg(target_os = "linux")]
mod many_windows;
#[cfg(target_os = "linux")]
mod menu;
#[cfg(target_os = "linux")]
mod modes;
#[cfg(target_os = "linux")]
mod monitors;
#[cfg(target_os = "linux")]
mod no_connection;
#[cfg(target_os = "linux")]
mod notifications;
#[cfg(target_os = "linux")]
mod options;
#[cfg(target_os = "linux")]
mod other_agents;
#[cfg(target_os = "linux")]
mod own_windows;
#[cfg(target_os = "linux")]
mod panes;
#[cfg(target_os = "linux")]
mod pasting;
#[cfg(target_os = "linux")]
mod permission;
#[cfg(target_os = "linux")]
mod planned;
#[cfg(target_os = "linux")]
mod profiles;
#[cfg(target_os = "linux")]
mod projects;
#[cfg(target_os = "linux")]
mod random_input;
#[cfg(target_os = "linux")]
mod reach;
#[cfg(target_os = "linux")]
mod recording;
#[cfg(target_os = "linux")]
mod reports;
#[cfg(target_os = "linux")]
mod rewind;
#[cfg(target_os = "linux")]
mod rules;
#[cfg(target_os = "linux")]
mod screen;
#[cfg(target_os = "linux")]
mod screens;
#[cfg(target_os = "linux")]
mod second_starts;
#[cfg(target_os = "linux")]
mod secrets;
#[cfg(target_os = "linux")]
mod sessions;
#[cfg(target_os = "linux")]
mod settings;
#[cfg(target_os = "linux")]
mod side_questions;
#[cfg(target_os = "linux")]
mod sides;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod start_page;
#[cfg(target_os = "linux")]
mod stored;
#[cfg(target_os = "linux")]
mod survival;
#[cfg(target_os = "linux")]
mod tray;
mod trust;
#[cfg(target_os = "linux")]
mod typing;

#[cfg(target_os = "linux")]
mod unread;
#[cfg(target_os = "linux")]
mod usage;
#[cfg(target_os = "linux")]
mod visible;
#[cfg(target_os = "linux")]
mod wayland;
#[cfg(target_os = "linux")]
mod working_day;
#[cfg(target_os = "linux")]
mod worktrees;

/// Tests that run with other window managers, too: several windows, their focus, and bringing them to the front.
#[cfg(target_os = "linux")]
fn on_any_desktop() -> Vec<deskbell_tests::suite::Test> {
    use deskbell_tests::tests;

    tests![
        projects: a_second_start_opens_a_second_window;
        permission: the_dialog_takes_the_keyboard_from_nobody;
        dialogs: over_another_window_there_is_a_notice_and_no_dialog;
        bell: a_minimised_window_rings_and_comes_back,
            another_window_in_front_does_not_silence_the_bell;
        notifications: a_click_brings_the_window_up
    ]
}

/// Tests of a display with two monitors.
#[cfg(target_os = "linux")]
fn on_two_monitors() -> Vec<deskbell_tests::suite::Test> {
    use deskbell_tests::tests;

    tests![
        monitors: window_menu_and_dialog_are_on_the_monitor_of_the_window,
            a_window_whose_monitor_is_gone_comes_back_on_the_screen
    ]
}

#[cfg(target_os = "linux")]
fn main() {
    use deskbell_tests::real_cli::Cli;
    use deskbell_tests::sockets::SocketWatch;
    use deskbell_tests::suite::{self, Requirement};
    use deskbell_tests::window::{Monitors, WindowManager};
    use deskbell_tests::{tests, window};
    use std::time::Duration;

    let needs = window::lacking().map_or(Requirement::Met, Requirement::Missing);
    if std::env::var_os("DESKBELL_BENCH").is_some() {
        suite::run(needs, suite::N_THREADS, screen::benchmarks());
    }
    let within = |seconds, tests: Vec<suite::Test>| {
        tests.into_iter().map(move |test| test.within(Duration::from_secs(seconds)))
    };
    let needing = |requirement: Requirement, tests: Vec<suite::Test>| {
        tests.into_iter().map(move |test| test.needing(requirement.clone()))
    };
    // The longest first, so that none of them runs alone at the end.
    let mut tests = Vec::new();
    tests.extend(within(1_200, tests![hostile_output: nothing_runs_with_the_policy_or_without]));
    tests.extend(within(1_800, tests![kills: random_kills_lose_and_double_nothing_and_leave_nothing]));
    tests.extend(within(600, tests![random_input: random_input_allows_nothing]));
    tests.extend(within(600, tests![many_windows: the_focus_of_twenty_windows_never_moves_by_itself]));
    if std::env::var_os("DESKBELL_TEST_DAY").is_some() {
        let day = within(900, tests![working_day: nothing_is_left_of_five_hundred_notifications]);
        tests.extend(needing(Requirement::programs(&["dunst"]), day.map(suite::Test::alone).collect()));
    }
    tests.extend(within(300, tests![hostile: every_code_point_reaches_a_screen_reader]));
    let with_the_cli = tests![
        rewind: files_conversation_and_both_go_back_and_come_back;
        changes: without_git_the_edits_of_the_agent_are_shown,
            without_git_the_edits_of_a_session_that_keeps_running_are_shown
    ];
    tests.extend(needing(Cli::requirement(), with_the_cli));
    let watched = tests![no_connection: a_conversation_in_the_window_stays_on_this_computer];
    tests.extend(needing(SocketWatch::requirement(), watched));
    tests.extend(tests![
        conversation: a_prompt_by_keyboard_is_answered,
            a_turn_is_stopped_by_escape,
            a_reload_in_mid_stream_loses_and_doubles_nothing,
            a_prompt_while_busy_waits_its_turn,
            the_wheel_leaves_the_end_while_much_streams,
            a_reader_who_leaves_a_flood_finds_all_of_it;
        changes: a_file_that_a_command_changed_is_shown_with_its_diff,
            comments_by_mouse_and_keyboard_outlive_the_app_and_are_one_prompt,
            a_patch_is_copied_and_a_part_and_a_file_are_reverted_and_come_back,
            a_commit_by_mouse_runs_a_hook_only_after_the_dialog,
            a_message_outlives_the_app_and_a_commit_is_made_by_keyboard;
        copying: a_message_is_copied_as_markdown,
            a_session_is_copied_as_markdown;
        permission: the_dialog_names_what_would_run,
            a_subagent_that_asks_is_named_wherever_it_asks,
            allowed_in_the_dialog_by_pointer,
            allowed_in_the_card,
            denied_in_the_dialog_with_a_reason,
            stray_keys_and_early_clicks_decide_nothing,
            escape_leaves_the_card,
            review_brings_the_card_up,
            two_requests_are_asked_one_after_the_other,
            what_a_dialog_cannot_show_plainly_is_for_the_card,
            always_allowed_is_not_asked_again,
            the_only_rule_is_saved_by_one_press,
            the_dialog_takes_the_keyboard_from_nobody,
            a_card_in_sight_has_no_dialog_over_it;
        wayland: a_prompt_is_answered_and_a_request_allowed_by_keyboard,
            a_request_out_of_sight_has_a_dialog,
            an_image_is_pasted,
            files_and_folders_of_another_program_are_dropped,
            the_bell_rings_is_clicked_and_is_withdrawn,
            each_kind_rings_wherever_the_window_is_unless_it_is_in_front,
            the_tray_has_the_session_that_waits_and_opens_the_board;
        configuration: it_is_opened_with_keys_and_a_server_is_turned_off;
        options: chosen_by_mouse_they_are_in_force,
            chosen_by_keyboard_they_count_from_the_next_start_on;
        rules: a_rule_is_removed_from_its_file_by_mouse_and_put_back_by_keyboard,
            a_rule_that_denies_is_removed_only_by_the_dialog;
        other_agents: a_session_from_the_menu_asks_by_its_agents_options_and_is_there_after_a_restart,
            a_prompt_is_given_to_another_agent_and_both_answer_side_by_side,
            its_stored_sessions_are_listed_filtered_and_continued_by_keyboard,
            the_terminal_of_the_settings_opens_with_the_login_of_another_agent;
        own_windows: a_session_has_one_place_and_its_draft_goes_with_it,
            a_notification_leads_to_the_window_of_its_session,
            closing_one_of_two_windows_stops_nothing_and_both_come_back,
            the_window_of_a_removed_session_gives_way_to_that_of_the_project,
            a_row_that_is_dragged_out_of_the_window_gets_one;
        panes: two_sessions_are_in_their_places_after_a_restart_and_one_moves_up_when_the_first_is_closed;
        worktrees: one_is_created_opened_kept_while_in_use_or_changed_and_removed,
            a_prompt_for_another_agent_waits_in_the_window_of_its_worktree;
        menu: it_is_used_by_mouse_and_by_keyboard;
        modes: switched_while_the_agent_lives,
            the_next_session_offers_models_before_its_agent_runs,
            a_model_is_chosen_in_two_clicks_before_there_is_a_session,
            without_asking_is_red_for_as_long_as_it_lasts,
            an_agent_that_does_not_ask_is_told_until_it_ends;
        dialogs: closing_the_dialog_leaves_the_card,
            three_requests_wait_in_line,
            a_withdrawn_request_takes_both_faces_away,
            over_another_window_there_is_a_notice_and_no_dialog,
            a_closed_window_takes_its_dialog_with_it;
        notifications: a_turn_that_ends_out_of_sight_rings,
            a_click_brings_the_window_up,
            a_request_out_of_sight_rings,
            a_request_is_denied_from_its_notification,
            the_bell_does_what_the_settings_file_says,
            a_failure_out_of_sight_rings,
            the_bell_never_wears_out,
            nothing_rings_in_front,
            a_click_closes_the_dialog_too,
            what_was_seen_is_withdrawn,
            a_failure_that_was_seen_leaves_the_title,
            sigterm_withdraws_what_is_shown,
            the_last_window_withdraws_what_is_shown,
            a_daemon_that_hangs_does_not_hold_up_the_end,
            a_daemon_that_never_answers_stops_nothing,
            no_daemon_stops_nothing,
            no_bus_stops_nothing;
        trust: nothing_starts_before_the_folder_is_trusted,
            a_trusted_folder_is_asked_about_again_when_it_changes,
            a_change_while_an_agent_runs_is_shown_and_waits_for_the_answer,
            a_restricted_folder_is_never_asked_about_again,
            an_answer_to_what_is_no_longer_so_is_refused,
            a_first_prompt_waits_for_the_answer,
            the_demo_agent_needs_no_trust;
        first_run: every_obstacle_is_recognised_with_the_focus;
        secrets: no_secret_of_a_window_is_in_the_log_or_the_diagnostics;
        awake: the_computer_stays_awake_while_an_agent_works_and_not_while_it_waits;
        settings: each_setting_of_the_looks_is_seen_at_once,
            the_settings_page_changes_at_once_and_returns_to_the_draft,
            new_sessions_begin_as_the_settings_say,
            a_program_is_changed_only_by_the_dialog;
        failures: an_agent_that_prints_garbage_is_told,
            an_agent_that_exits_at_once_is_told,
            an_agent_that_cannot_be_run_is_told,
            an_agent_that_crashes_can_be_prompted_again,
            a_folder_that_does_not_exist_is_told,
            a_file_in_place_of_a_folder_is_told;
        profiles: two_accounts_are_added_chosen_and_have_their_own_environment_and_conversations;
        projects: a_second_start_opens_a_second_window,
            a_link_shows_its_session,
            a_relative_folder_is_seen_from_where_it_was_named,
            the_same_folder_again_brings_its_window_up,
            a_restart_brings_sessions_back_and_resumes,
            a_renamed_folder_has_its_sessions,
            a_draft_and_the_zoom_survive_a_restart,
            a_window_is_where_it_was,
            several_windows_come_back_painted_each_as_it_was,
            all_windows_of_a_restart_are_painted;
        bell: a_minimised_window_rings_and_comes_back,
            a_failure_and_a_request_in_front_ring_nothing,
            another_window_in_front_does_not_silence_the_bell,
            review_leads_to_the_session_and_its_request,
            a_dismissed_notification_answers_nothing,
            many_that_wait_share_one_notification,
            a_daemon_that_comes_back_rings_again;
        second_starts: on_another_display_it_says_where_the_app_is,
            while_the_app_hangs_it_says_so_and_ends,
            a_session_bus_that_never_answers_keeps_no_window_away;
        data_folder: everything_is_for_the_user_alone;
        isolation: a_window_acts_only_on_its_own_sessions,
            a_window_hears_nothing_of_the_sessions_of_another;
        far: a_project_there_is_opened_trusted_prompted_and_stopped,
            another_agent_and_a_profile_of_that_machine_begin_sessions_there,
            a_terminal_logs_in_and_continues_the_conversation_there,
            a_worktree_there_is_made_opened_kept_and_removed,
            a_turn_there_survives_the_connection,
            what_ssh_asks_is_answered_in_the_window,
            a_turn_there_survives_the_app,
            a_machine_that_is_not_connected_is_asked_and_stopped_from_the_board,
            a_lost_connection_rings_only_if_something_waits;
        start_page: a_recent_project_is_opened_by_keyboard,
            a_project_is_opened_and_removed_by_mouse,
            a_moved_folder_is_found_again_with_its_sessions_and_asked_about,
            the_first_start_needs_three_clicks_and_a_prompt,
            a_folder_is_opened_by_a_drop,
            the_home_folder_is_never_opened_by_accident,
            hostile_arguments_open_at_most_a_folder,
            a_start_at_login_opens_no_window_and_follows_the_setting,
            a_start_that_fails_says_so_in_a_window;
        ending: closing_the_window_leaves_no_process,
            work_is_not_stopped_unasked,
            work_goes_on_in_the_background,
            an_answer_to_remember_is_the_setting_and_is_not_asked_again,
            quitting_asks_once,
            closing_right_after_a_prompt_leaves_no_process,
            sigterm_leaves_no_process,
            sigkill_leaves_no_process,
            what_a_killed_guard_leaves_is_offered_at_the_next_start,
            an_open_request_is_denied_by_closing;
        sessions: a_removed_session_leaves_at_once_and_its_agent_is_ended,
            a_removed_session_comes_back_with_its_conversation,
            ten_new_sessions_are_one_without_an_agent,
            titles_are_generated_if_wanted_once_and_never_in_place_of_the_users,
            however_it_ended_the_app_comes_back_with_list_conversation_and_ends_of_turns;
        side_questions: one_is_asked_and_answered_beside_a_turn;
        sides: the_session_list_is_as_wide_as_it_was_made_also_after_a_restart;
        many_sessions: ten_thousand_sessions_are_scrolled_filtered_and_walked_through;
        stored: a_terminals_sessions_are_listed_filtered_opened_and_continued,
            a_word_is_found_in_a_terminals_session_and_opened_where_it_is,
            a_fork_goes_on_by_itself_and_leaves_its_origin_as_it_was,
            the_board_shows_a_terminal_of_another_project_and_opens_it_to_watch;
        background: the_output_of_a_task_grows_and_the_task_is_stopped;
        board: the_board_shows_who_waits_and_brings_the_window_up,
            requests_are_answered_on_the_board_by_key_and_by_mouse,
            a_command_that_hides_something_is_only_reviewed_from_the_board,
            a_failure_stays_on_the_board_over_a_restart_until_it_is_cleared,
            a_failure_of_a_session_that_is_gone_opens_no_session;
        form: it_is_filled_in_with_the_keyboard_only,
            it_is_filled_in_with_the_mouse_only,
            a_dialog_of_the_agent_is_answered_with_a_choice;
        recording: a_recording_is_stopped_and_shown_in_the_file_manager,
            a_recording_whose_folder_is_removed_ends_in_the_window_at_once;
        reports: a_session_that_a_limit_stopped_continues_at_its_reset_if_it_may,
            the_meter_opens_what_fills_the_context_and_the_limits,
            compaction_hooks_and_retries_are_shown_as_what_they_are,
            unknown_lines_are_counted_live_and_an_error_line_ends_its_turn;
        planned: planned_turns_and_monitors_are_listed_and_each_turn_says_what_began_it;
        dropping: images_and_pdfs_are_attached_and_other_files_are_named;
        usage: it_adds_up_the_turns_of_the_project_and_of_all_projects;
        pasting: an_image_is_pasted_by_key_and_by_command,
            an_image_that_cannot_be_read_is_told,
            an_image_in_a_format_that_no_agent_takes_is_told,
            files_of_a_file_manager_are_attached_or_named,
            ten_thousand_lines_are_attached_kept_and_sent;
        survival: a_killed_app_offers_the_cut_prompt,
            a_crash_is_said_once_with_one_button,
            a_killed_agent_is_told_and_starts_again,
            a_killed_webview_comes_back,
            a_killed_app_finds_the_turn_that_kept_running,
            a_project_keeps_running_by_its_own_choice,
            a_killed_app_finds_the_request_of_another_agent_that_kept_running;
        unread: a_pipe_in_place_of_the_branch_holds_nothing_up,
            what_is_in_place_of_files_of_our_own_is_said_and_kept;
        screen: a_long_answer_is_drawn_as_it_comes,
            ten_megabytes_are_harmless,
            a_flood_loses_nothing,
            a_large_session_is_a_few_rows;
        reach: a_screen_reader_finds_the_names,
            everything_by_keyboard,
            a_turn_is_read_out_and_its_tokens_are_not;
        links: a_link_opens_outside_and_only_what_may,
            a_path_in_an_answer_opens_the_file_at_its_line;
        drawing: a_key_draws_its_line,
            a_piece_of_an_answer_draws_its_line;
        typing: what_an_input_method_composes_is_in_the_box,
            after_an_answer_by_mouse_the_prompt_has_the_focus,
            typing_outside_of_any_field_goes_to_the_prompt,
            what_was_cleared_is_undone_and_redone_by_key,
            what_is_typed_right_after_new_session_is_for_the_new_one,
            a_key_is_changed_by_keyboard_and_stays_after_a_restart,
            the_right_button_opens_no_menu_of_the_browser;
        looks: light_and_dark,
            the_mark_of_an_item_stays_in_its_line,
            the_buttons_of_a_question_follow_its_last_choice,
            a_question_with_previews_is_answered_by_number_keys;
        tray: the_tray_brings_up_the_session_that_waits
    ]);
    tests.extend(visible::tests());
    tests.extend(input_methods::tests());
    tests.extend(screens::at_scales());
    tests.extend(screens::in_layouts());
    tests.extend(needing(Monitors::requirement(), on_two_monitors()));
    for manager in [WindowManager::Mutter, WindowManager::Kwin] {
        let installed = Requirement::programs(&[manager.program()]);
        if manager == WindowManager::Kwin && installed != Requirement::Met {
            // Its 130 packages take a minute to install, so that CI does not have them.
            eprintln!("skipped: the tests with {}, which is not installed", manager.program());
            continue;
        }
        let inside = |test: suite::Test| test.inside(manager.program(), move |body| manager.around(body));
        tests.extend(needing(installed.clone(), on_any_desktop()).map(inside));
        tests.extend(needing(installed.clone(), screens::at_scales()).map(inside));
        let with_monitors = Requirement::all([installed, Monitors::requirement()]);
        tests.extend(needing(with_monitors, on_two_monitors()).map(inside));
    }
    let without_an_agent = tests![
        failures: no_agent_anywhere_lists_what_was_tried;
        first_run: an_agent_that_is_installed_meanwhile_is_found_with_the_focus,
            the_demo_needs_no_decision_about_the_folder
    ];
    tests.extend(needing(failures::no_agent_installed(), without_an_agent));
    // A window waits longer than an agent.
    suite::run(needs, suite::N_THREADS + 1, tests)
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("ignored: the real window is driven on Linux only");
}
